-- A regency has one spelling within its district in both datasets. If one dataset uses two spellings, every sum counts the regency twice.
-- en: the regency ({field}) has several spellings in its district: {actual}
-- id: nama kabupaten/kota ini ({field}) ditulis dengan beberapa ejaan dalam satu dapil: {actual}
WITH places AS (
  SELECT 'voters' AS dataset, election_year, election_type, dapil_id, province, regency FROM voters
  UNION ALL
  SELECT 'voting_rights_users', election_year, election_type, dapil_id, province, regency FROM voting_rights_users
),
-- Ignores letter case, spaces (Z), control and invisible characters (C), and how Unicode writes accents. Removes NUL first, because nfc_normalize
-- stops there. Compares hashes, because the names of a whole nation would fill the memory.
spelled AS (
  SELECT *, hash(
    lower(nfc_normalize(regexp_replace(regency, '[\pZ\pC]', '', 'g'))),
    lower(nfc_normalize(regexp_replace(province, '[\pZ\pC]', '', 'g')))
  ) AS plain
  FROM places
),
several AS (
  SELECT election_year, election_type, dapil_id, plain
  FROM spelled
  GROUP BY election_year, election_type, dapil_id, plain
  HAVING count(DISTINCT (province, regency)) > 1
),
found AS (
  SELECT
    election_year, election_type, dapil_id,
    unnest(list({dataset: dataset, province: province, regency: regency}), recursive := true),
    string_agg(DISTINCT '"' || regency || ', ' || province || '"', ' and ' ORDER BY '"' || regency || ', ' || province || '"') AS names
  FROM spelled
  JOIN several USING (election_year, election_type, dapil_id, plain)
  GROUP BY election_year, election_type, dapil_id, plain
)
SELECT
  dataset, election_year, election_type, dapil_id, province, regency,
  'warning' AS severity,
  'regency' AS column_name,
  'one spelling' AS expected,
  names AS actual
FROM found
