-- Every regency has at most as many voting-rights users in the permanent list (DPT) as voters: for men, women and both.
-- en: {column} ({field}) is {actual}, but there are only {limit} voters
-- id: {column} ({field}) tercatat {actual}, padahal hanya ada {limit} pemilih
WITH pairs AS (
  SELECT
    election_year, election_type, dapil_id, province, regency, c.column_name,
    CASE c.column_name WHEN 'dpt_male' THEN u.dpt_male WHEN 'dpt_female' THEN u.dpt_female ELSE u.dpt_total END AS users,
    CASE c.column_name WHEN 'dpt_male' THEN v.dpt_male WHEN 'dpt_female' THEN v.dpt_female ELSE v.dpt_total END AS voters
  FROM voting_rights_users u
  JOIN voters v USING (election_year, election_type, dapil_id, province, regency)
  CROSS JOIN (VALUES ('dpt_male'), ('dpt_female'), ('dpt_total')) AS c (column_name)
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
