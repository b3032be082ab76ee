-- In every regency, at most as many people voted as there are voters in the additional list (DPK): for men, women and both.
-- en: {column} ({field}) is {actual}, but there are only {limit} voters
-- id: {column} ({field}) tercatat {actual}, padahal hanya ada {limit} pemilih
WITH pairs AS (
  SELECT
    election_year, election_type, dapil_id, users_province AS province, users_regency AS regency,
    unnest([
      {column_name: 'dpk_male', users: users_dpk_male, voters: voters_dpk_male},
      {column_name: 'dpk_female', users: users_dpk_female, voters: voters_dpk_female},
      {column_name: 'dpk_total', users: users_dpk_total, voters: voters_dpk_total}
    ], recursive := true)
  FROM regency_figures
  WHERE users_dpk_male > voters_dpk_male OR users_dpk_female > voters_dpk_female OR users_dpk_total > voters_dpk_total
)
SELECT
  'voting_rights_users' AS dataset,
  election_year, election_type, dapil_id, province, regency,
  'warning' AS severity,
  column_name,
  'at most ' || CAST(voters AS VARCHAR(20)) AS expected,
  CAST(users AS VARCHAR(20)) AS actual
FROM pairs
WHERE users > voters
