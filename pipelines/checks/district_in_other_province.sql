-- A district that is named after a province is in that province.
-- en: {column} ({field}) is "{actual}", but its regencies are in {expected}. Figures by district and by province of the same name differ.
-- id: {column} ({field}) tercatat "{actual}", tetapi kabupaten/kotanya berada di {expected}. Akibatnya, angka dapil ini berbeda dari angka provinsi yang bernama sama.
WITH districts AS (
  SELECT 'voters' AS dataset, election_year, election_type, dapil_id, dapil_name, province FROM voters
  UNION
  SELECT 'voting_rights_users', election_year, election_type, dapil_id, dapil_name, province FROM voting_rights_users
),
-- The name without its number, and both names without spaces and punctuation.
plain AS (
  SELECT
    *,
    regexp_replace(regexp_replace(upper(dapil_name), '\s+([IVX]+|[0-9]+)\s*$', ''), '[^A-Z0-9]', '', 'g') AS named_after,
    regexp_replace(upper(province), '[^A-Z0-9]', '', 'g') AS plain_province
  FROM districts
),
misplaced AS (
  SELECT p.*
  FROM plain p
  JOIN (VALUES $province_codes) AS named(code, name) ON named.name = p.named_after
  LEFT JOIN (VALUES $province_codes) AS own(code, name) ON own.name = p.plain_province
  WHERE own.code IS DISTINCT FROM named.code AND p.plain_province <> p.named_after
)
SELECT
  min(dataset) AS dataset, election_year, election_type, dapil_id, NULL::VARCHAR AS province, NULL::VARCHAR AS regency,
  'warning' AS severity,
  'dapil_name' AS column_name,
  string_agg(DISTINCT province, ', ' ORDER BY province) AS expected,
  min(dapil_name) AS actual
FROM misplaced
GROUP BY election_year, election_type, dapil_id
