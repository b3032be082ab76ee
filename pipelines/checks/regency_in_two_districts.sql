-- No regency is divided between districts: twice in one dataset it is counted twice, as where it moved and only one of them was read again.
WITH places AS (
  SELECT 'voters' AS dataset, election_year, election_type, dapil_id, province, regency FROM voters
  UNION ALL
  SELECT 'voting_rights_users', election_year, election_type, dapil_id, province, regency FROM voting_rights_users
),
several AS (
  SELECT
    dataset, election_year, election_type, province, regency,
    array_to_string(list_sort(list(dapil_id)), ' and ') AS found
  FROM places
  GROUP BY dataset, election_year, election_type, province, regency
  HAVING min(dapil_id) < max(dapil_id)
)
SELECT
  dataset, election_year, election_type, dapil_id, province, regency,
  'warning' AS severity,
  'dapil_id' AS column_name,
  'one district' AS expected,
  found AS actual,
  'the regency stands in the districts ' || found AS message
FROM places
JOIN several USING (dataset, election_year, election_type, province, regency)
