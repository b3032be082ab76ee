-- Every regency is in one district. A regency in two districts is counted twice, for example if it moved and only one of the districts was read again.
-- en: the regency is in several districts ({field}): {actual}
-- id: kabupaten/kota ini tercatat di beberapa daerah pemilihan ({field}): {actual}
WITH places AS (
  SELECT 'voters' AS dataset, election_year, election_type, dapil_id, province, regency FROM voters
  UNION ALL
  SELECT 'voting_rights_users', election_year, election_type, dapil_id, province, regency FROM voting_rights_users
),
-- Avoids a list of districts per regency, because DuckDB keeps such lists in memory despite its memory limit.
several AS (
  SELECT dataset, election_year, election_type, province, regency
  FROM places
  GROUP BY dataset, election_year, election_type, province, regency
  HAVING count(*) > 1
),
found AS (
  SELECT
    dataset, election_year, election_type, province, regency,
    unnest(list_sort(list(dapil_id))) AS dapil_id,
    array_to_string(list_sort(list(dapil_id)), ', ') AS districts
  FROM places
  JOIN several USING (dataset, election_year, election_type, province, regency)
  GROUP BY dataset, election_year, election_type, province, regency
)
SELECT
  dataset, election_year, election_type, dapil_id, province, regency,
  'warning' AS severity,
  'dapil_id' AS column_name,
  'one district' AS expected,
  districts AS actual
FROM found
