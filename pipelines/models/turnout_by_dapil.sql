-- Turnout by electoral district, one row per election and district: men and women together, and each. The rows of `turnout_sums` at that level.
-- dapil_id: Identifier of the electoral district (dapil) in the service. It looks like an official code but isn't one. Don't join it with codes of the interior ministry or the statistics office.
-- dapil_name: Name of the electoral district, in the spelling that most of its rows use.
-- users_per_dpt_and_dpk_pct_male: users_per_dpt_and_dpk_pct of men.
-- users_compared_male: users_compared of men. Unit: people.
-- voters_dpt_and_dpk_compared_male: voters_dpt_and_dpk_compared of men. Unit: people.
-- users_all_male: users_all of men. Unit: people.
-- voters_all_male: voters_all of men. Unit: people.
-- users_per_dpt_and_dpk_pct_female: users_per_dpt_and_dpk_pct of women.
-- users_compared_female: users_compared of women. Unit: people.
-- voters_dpt_and_dpk_compared_female: voters_dpt_and_dpk_compared of women. Unit: people.
-- users_all_female: users_all of women. Unit: people.
-- voters_all_female: voters_all of women. Unit: people.
SELECT
  b.election_year, b.election_type, b.dapil_id, b.dapil_name,
  b.users_per_dpt_and_dpk_pct, b.users_per_dpt_pct, b.users_per_voters_pct,
  b.regencies_compared, b.voters_dpt_and_dpk_compared, b.voters_dpt_compared, b.users_compared, b.voters_compared,
  b.regencies, b.regencies_missing, b.regencies_unknown, b.regencies_zero_denominator, b.regencies_contradicting,
  b.users_per_dpt_and_dpk_pct_with_contradicting, b.users_per_dpt_pct_with_contradicting, b.users_per_voters_pct_with_contradicting,
  b.voters_dpt_and_dpk_with_contradicting, b.voters_dpt_with_contradicting, b.users_with_contradicting, b.voters_with_contradicting,
  b.users_all, b.voters_all, b.voters_compared_pct,
  b.regencies_in_users, b.regencies_in_voters, b.unknown_users, b.unknown_voters,
  m.users_per_dpt_and_dpk_pct AS users_per_dpt_and_dpk_pct_male, m.users_compared AS users_compared_male, m.voters_dpt_and_dpk_compared AS voters_dpt_and_dpk_compared_male, m.users_all AS users_all_male, m.voters_all AS voters_all_male,
  f.users_per_dpt_and_dpk_pct AS users_per_dpt_and_dpk_pct_female, f.users_compared AS users_compared_female, f.voters_dpt_and_dpk_compared AS voters_dpt_and_dpk_compared_female, f.users_all AS users_all_female, f.voters_all AS voters_all_female
FROM turnout_sums b
JOIN turnout_sums m ON m.level = b.level AND m.sex = 'male' AND b.election_year = m.election_year AND b.election_type = m.election_type AND b.dapil_id = m.dapil_id
JOIN turnout_sums f ON f.level = b.level AND f.sex = 'female' AND b.election_year = f.election_year AND b.election_type = f.election_type AND b.dapil_id = f.dapil_id
WHERE b.level = 'dapil' AND b.sex = 'both'
ORDER BY b.election_year, b.election_type, b.dapil_id, b.dapil_name
