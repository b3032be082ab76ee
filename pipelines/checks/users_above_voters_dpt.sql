-- Every regency has at most as many voting-rights users in the permanent list (DPT) as voters: for men, women and both.
-- en: {column} ({field}) is {actual}, but there are only {limit} voters
-- id: {column} ({field}) tercatat {actual}, padahal hanya ada {limit} pemilih
WITH pairs AS (
  SELECT
    election_year, election_type, dapil_id, province, regency,
    unnest([
      {name: 'dpt_male', users: u.dpt_male, voters: v.dpt_male},
      {name: 'dpt_female', users: u.dpt_female, voters: v.dpt_female},
      {name: 'dpt_total', users: u.dpt_total, voters: v.dpt_total}
    ]) AS pair
  FROM voting_rights_users u
  JOIN voters v USING (election_year, election_type, dapil_id, province, regency)
)
SELECT
  'voting_rights_users' AS dataset,
  election_year, election_type, dapil_id, province, regency,
  'error' AS severity,
  pair.name AS column_name,
  'at most ' || pair.voters AS expected,
  pair.users::VARCHAR AS actual
FROM pairs
WHERE pair.users > pair.voters
