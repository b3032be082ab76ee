-- Every regency has at most as many voting-rights users on all lists as voters: for men, women and both.
-- en: {column} ({field}) is {actual}, but there are only {limit} voters
-- id: {column} ({field}) tercatat {actual}, padahal hanya ada {limit} pemilih
WITH pairs AS (
  SELECT
    election_year, election_type, dapil_id, province, regency, c.column_name,
    CASE c.column_name WHEN 'male_total' THEN u.male_total WHEN 'female_total' THEN u.female_total ELSE u.grand_total END AS users,
    CASE c.column_name WHEN 'male_total' THEN v.male_total WHEN 'female_total' THEN v.female_total ELSE v.grand_total END AS voters
  FROM voting_rights_users u
  JOIN voters v USING (election_year, election_type, dapil_id, province, regency)
  CROSS JOIN (VALUES ('male_total'), ('female_total'), ('grand_total')) AS c (column_name)
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
