-- Every regency is in one district. A regency in two districts is counted twice, for example if it moved and only one of the districts was read again.
-- en: the regency is in several districts ({field}): {actual}
-- id: kabupaten/kota ini tercatat di beberapa daerah pemilihan ({field}): {actual}
WITH places AS (
  SELECT 'voters' AS dataset, election_year, election_type, dapil_id, province, regency FROM voters
  UNION ALL
  SELECT 'voting_rights_users', election_year, election_type, dapil_id, province, regency FROM voting_rights_users
),
-- Compares names as the check regency_names does.
spelled AS (
  SELECT *, hash(
    lower(nfc_normalize(regexp_replace(regency, '[\pZ\pC]', '', 'g'))),
    lower(nfc_normalize(regexp_replace(province, '[\pZ\pC]', '', 'g')))
  ) AS plain
  FROM places
),
-- Avoids a list of districts per regency, because DuckDB keeps such lists in memory despite its memory limit.
several AS (
  SELECT dataset, election_year, election_type, plain
  FROM spelled
  GROUP BY dataset, election_year, election_type, plain
  HAVING min(dapil_id) <> max(dapil_id)
),
found AS (
  SELECT
    dataset, election_year, election_type,
    unnest(list({dapil_id: dapil_id, province: province, regency: regency}), recursive := true),
    array_to_string(list_sort(list(DISTINCT dapil_id)), ', ') AS districts
  FROM spelled
  JOIN several USING (dataset, election_year, election_type, plain)
  GROUP BY dataset, election_year, election_type, plain
)
SELECT
  dataset, election_year, election_type, dapil_id, province, regency,
  'warning' AS severity,
  'dapil_id' AS column_name,
  'one district' AS expected,
  districts AS actual
FROM found
