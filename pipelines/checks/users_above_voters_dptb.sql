-- In every regency, at most as many people voted as there are voters in the supplementary list (DPTb): for men, women and both.
-- en: {column} ({field}) is {actual}, but there are only {limit} voters
-- id: {column} ({field}) tercatat {actual}, padahal hanya ada {limit} pemilih
WITH pairs AS (
  SELECT
    election_year, election_type, dapil_id, users_province AS province, users_regency AS regency,
    unnest([
      {column_name: 'dptb_male', users: users_dptb_male, voters: voters_dptb_male},
      {column_name: 'dptb_female', users: users_dptb_female, voters: voters_dptb_female},
      {column_name: 'dptb_total', users: users_dptb_total, voters: voters_dptb_total}
    ], recursive := true)
  FROM regency_figures
  WHERE users_dptb_male > voters_dptb_male OR users_dptb_female > voters_dptb_female OR users_dptb_total > voters_dptb_total
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
