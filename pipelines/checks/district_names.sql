-- A district id has one name in both datasets.
-- en: the district has several names ({field}): {actual}
-- id: daerah pemilihan ini memiliki beberapa nama ({field}): {actual}
WITH names AS (
  SELECT 'voters' AS dataset, election_year, election_type, dapil_id, dapil_name FROM voters
  UNION ALL
  SELECT 'voting_rights_users', election_year, election_type, dapil_id, dapil_name FROM voting_rights_users
),
several AS (
  SELECT election_year, election_type, dapil_id, min(dataset) AS dataset, string_agg(DISTINCT dapil_name, ', ' ORDER BY dapil_name) AS found
  FROM names
  GROUP BY election_year, election_type, dapil_id
  HAVING count(DISTINCT dapil_name) > 1
)
SELECT
  dataset, election_year, election_type, dapil_id, NULL::VARCHAR AS province, NULL::VARCHAR AS regency,
  'warning' AS severity,
  'dapil_name' AS column_name,
  'one name' AS expected,
  found AS actual
FROM several
