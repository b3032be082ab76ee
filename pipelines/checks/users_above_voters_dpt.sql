-- In every regency, at most as many people voted as there are voters in the permanent list (DPT): for men, women and both.
-- en: {column} ({field}) is {actual}, but there are only {limit} voters
-- id: {column} ({field}) tercatat {actual}, padahal hanya ada {limit} pemilih
WITH pairs AS (
  SELECT
    election_year, election_type, dapil_id, users_province AS province, users_regency AS regency,
    unnest([
      {column_name: 'dpt_male', users: users_dpt_male, voters: voters_dpt_male},
      {column_name: 'dpt_female', users: users_dpt_female, voters: voters_dpt_female},
      {column_name: 'dpt_total', users: users_dpt_total, voters: voters_dpt_total}
    ], recursive := true)
  FROM regency_figures
  WHERE users_dpt_male > voters_dpt_male OR users_dpt_female > voters_dpt_female OR users_dpt_total > voters_dpt_total
)
SELECT
  'voting_rights_users' AS dataset,
  election_year, election_type, dapil_id, province, regency,
  'error' AS severity,
  column_name,
  'at most ' || CAST(voters AS VARCHAR(20)) AS expected,
  CAST(users AS VARCHAR(20)) AS actual
FROM pairs
WHERE users > voters
