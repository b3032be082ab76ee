-- Regencies of a district that are next to each other in alphabetical order have different grand totals.
-- en: {column} ({field}) is {actual}, the same as for {expected}. One of the rows may be a copy.
-- id: {column} ({field}) tercatat {actual}, sama dengan {expected}. Salah satu baris mungkin merupakan salinan.
WITH datasets AS (
  SELECT 'voters' AS dataset, election_year, election_type, dapil_id, province, regency, grand_total FROM voters
  UNION ALL
  SELECT 'voting_rights_users', election_year, election_type, dapil_id, province, regency, grand_total FROM voting_rights_users
),
neighbours AS (
  SELECT
    dataset, election_year, election_type, dapil_id, province, regency, grand_total,
    lag(regency) OVER (PARTITION BY dataset, election_year, election_type, dapil_id ORDER BY province, regency) AS previous_regency,
    lag(grand_total) OVER (PARTITION BY dataset, election_year, election_type, dapil_id ORDER BY province, regency) AS previous_total
  FROM datasets
)
SELECT
  dataset, election_year, election_type, dapil_id, province, regency,
  'warning' AS severity,
  'grand_total' AS column_name,
  previous_regency AS expected,
  CAST(grand_total AS VARCHAR(20)) AS actual
FROM neighbours
WHERE grand_total = previous_total AND grand_total > 0
