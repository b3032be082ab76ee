-- Turnout by electoral district and sex: the rows of `turnout_sums` at that level.
-- dapil_id: Identifier of the electoral district (dapil) in the service. It looks like an official code but isn't one. Don't join it with codes of the interior ministry or the statistics office.
-- dapil_name: Name of the electoral district, in the spelling that most of its rows use.
SELECT
  election_year, election_type, dapil_id, dapil_name, sex,
  users_per_dpt_and_dpk_pct, users_per_dpt_pct, users_per_voters_pct,
  regencies_compared, voters_dpt_and_dpk_compared, voters_dpt_compared, users_compared, voters_compared,
  regencies, regencies_missing, regencies_unknown, regencies_zero_denominator, regencies_contradicting,
  users_per_dpt_and_dpk_pct_with_contradicting, users_per_dpt_pct_with_contradicting, users_per_voters_pct_with_contradicting,
  voters_dpt_and_dpk_with_contradicting, voters_dpt_with_contradicting, users_with_contradicting, voters_with_contradicting,
  users_all, voters_all, voters_compared_pct,
  regencies_in_users, regencies_in_voters, unknown_users, unknown_voters
FROM turnout_sums
WHERE level = 'dapil'
ORDER BY election_year, election_type, dapil_id, dapil_name, sex
