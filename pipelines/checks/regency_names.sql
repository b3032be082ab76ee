-- A regency has one spelling within its district, over both datasets. One that a dataset spells in two ways is counted twice in every sum.
-- en: the district spells this regency ({field}) in several ways: {actual}
-- id: nama kabupaten/kota ini ({field}) ditulis dengan beberapa ejaan di dapilnya: {actual}
WITH places AS (
  SELECT 'voters' AS dataset, election_year, election_type, dapil_id, province, regency FROM voters
  UNION ALL
  SELECT 'voting_rights_users', election_year, election_type, dapil_id, province, regency FROM voting_rights_users
),
-- Without letter case, space (Z), control and invisible characters (C), and the two ways in which Unicode writes an accent. NUL goes first:
-- nfc_normalize stops there. A number stands for the name: a nation's names would fill the memory.
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
