-- In every regency, at most as many people voted as there are voters on all lists: for men, women and both.
-- en: {column} ({field}) is {actual}, but there are only {limit} voters
-- id: {column} ({field}) tercatat {actual}, padahal hanya ada {limit} pemilih
WITH pairs AS (
  SELECT
    election_year, election_type, dapil_id, users_province AS province, users_regency AS regency,
    unnest([
      {column_name: 'male_total', users: users_male_total, voters: voters_male_total},
      {column_name: 'female_total', users: users_female_total, voters: voters_female_total},
      {column_name: 'grand_total', users: users_grand_total, voters: voters_grand_total}
    ], recursive := true)
  FROM regency_figures
  WHERE users_male_total > voters_male_total OR users_female_total > voters_female_total OR users_grand_total > voters_grand_total
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
