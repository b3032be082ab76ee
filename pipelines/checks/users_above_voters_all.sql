-- Every regency has at most as many voting-rights users on all lists as voters: for men, women and both.
-- en: {column} ({field}) is {actual}, but there are only {limit} voters
-- id: {column} ({field}) tercatat {actual}, padahal hanya ada {limit} pemilih
WITH pairs AS (
  SELECT
    election_year, election_type, dapil_id, province, regency,
    unnest([
      {name: 'male_total', users: u.male_total, voters: v.male_total},
      {name: 'female_total', users: u.female_total, voters: v.female_total},
      {name: 'grand_total', users: u.grand_total, voters: v.grand_total}
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
