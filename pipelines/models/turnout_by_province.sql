-- Turnout by province and sex: the rows of `turnout_sums` at that level.
-- province: Name of the province.
SELECT
  election_year, election_type, province, sex,
  users_per_dpt_and_dpk_pct, users_per_dpt_pct, users_per_voters_pct,
  regencies_compared, voters_dpt_and_dpk_compared, voters_dpt_compared, users_compared, voters_compared,
  regencies, regencies_missing, regencies_unknown, regencies_zero_denominator, regencies_contradicting,
  users_per_dpt_and_dpk_pct_with_contradicting, users_per_dpt_pct_with_contradicting, users_per_voters_pct_with_contradicting,
  voters_dpt_and_dpk_with_contradicting, voters_dpt_with_contradicting, users_with_contradicting, voters_with_contradicting,
  users_all, voters_all, voters_compared_pct,
  regencies_in_users, regencies_in_voters, unknown_users, unknown_voters
FROM turnout_sums
WHERE level = 'province'
ORDER BY election_year, election_type, province, sex
