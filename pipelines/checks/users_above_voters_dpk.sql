-- Every regency has at most as many voting-rights users in the additional list (DPK) as voters: for men, women and both.
-- en: {column} ({field}) is {actual}, but there are only {limit} voters
-- id: {column} ({field}) tercatat {actual}, padahal hanya ada {limit} pemilih
WITH pairs AS (
  SELECT
    election_year, election_type, dapil_id, province, regency,
    unnest([
      {name: 'dpk_male', users: u.dpk_male, voters: v.dpk_male},
      {name: 'dpk_female', users: u.dpk_female, voters: v.dpk_female},
      {name: 'dpk_total', users: u.dpk_total, voters: v.dpk_total}
    ]) AS pair
  FROM voting_rights_users u
  JOIN voters v USING (election_year, election_type, dapil_id, province, regency)
)
SELECT
  'voting_rights_users' AS dataset,
  election_year, election_type, dapil_id, province, regency,
  'warning' AS severity,
  pair.name AS column_name,
  'at most ' || pair.voters AS expected,
  pair.users::VARCHAR AS actual
FROM pairs
WHERE pair.users > pair.voters
