-- Every regency has at most as many voting-rights users in the supplementary list (DPTb) as voters: for men, women and both.
-- en: {column} ({field}) is {actual}, but there are only {limit} voters
-- id: {column} ({field}) tercatat {actual}, padahal hanya ada {limit} pemilih
WITH pairs AS (
  SELECT
    election_year, election_type, dapil_id, province, regency,
    unnest([
      {name: 'dptb_male', users: u.dptb_male, voters: v.dptb_male},
      {name: 'dptb_female', users: u.dptb_female, voters: v.dptb_female},
      {name: 'dptb_total', users: u.dptb_total, voters: v.dptb_total}
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
