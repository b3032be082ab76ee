-- Every regency has at most as many voting-rights users in the supplementary list (DPTb) as voters: for men, women and both.
-- en: {column} ({field}) is {actual}, but there are only {limit} voters
-- id: {column} ({field}) tercatat {actual}, padahal hanya ada {limit} pemilih
WITH pairs AS (
  SELECT
    election_year, election_type, dapil_id, province, regency, c.column_name,
    CASE c.column_name WHEN 'dptb_male' THEN u.dptb_male WHEN 'dptb_female' THEN u.dptb_female ELSE u.dptb_total END AS users,
    CASE c.column_name WHEN 'dptb_male' THEN v.dptb_male WHEN 'dptb_female' THEN v.dptb_female ELSE v.dptb_total END AS voters
  FROM voting_rights_users u
  JOIN voters v USING (election_year, election_type, dapil_id, province, regency)
  CROSS JOIN (VALUES ('dptb_male'), ('dptb_female'), ('dptb_total')) AS c (column_name)
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
