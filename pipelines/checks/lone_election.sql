-- More than one record has the year and the type of an election. A single one is probably a mistake.
-- en: {column} ({field}) is {actual}, and no other record has this election: {expected}
-- id: {column} ({field}) tercatat {actual}, padahal tidak ada rekaman lain dari pemilu ini: {expected}
-- refuse: new
WITH places AS (
  SELECT 'voters' AS dataset, election_year, election_type, dapil_id, province, regency FROM voters
  UNION ALL
  SELECT 'voting_rights_users', election_year, election_type, dapil_id, province, regency FROM voting_rights_users
),
elections AS (
  SELECT
    election_year, election_type, count(DISTINCT row(dapil_id, province, regency)) AS regencies,
    sum(count(*)) OVER () - count(*) AS others
  FROM places
  GROUP BY election_year, election_type
)
SELECT
  dataset, election_year, election_type, dapil_id, province, regency,
  'warning' AS severity,
  'election_year' AS column_name,
  election_type || ' ' || election_year AS expected,
  election_year::VARCHAR AS actual
FROM places
JOIN (FROM elections WHERE regencies = 1 AND others > 0) AS lone USING (election_year, election_type)
