-- A regency goes by one name within its district: spelled in two ways it stands there twice, and is counted twice in every sum.
-- en: the regency ({field}) stands in its district under several names: {actual}
-- id: kabupaten/kota ini ({field}) tercatat di dapilnya dengan beberapa nama: {actual}
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
  SELECT dataset, election_year, election_type, dapil_id, plain
  FROM spelled
  GROUP BY dataset, election_year, election_type, dapil_id, plain
  HAVING count(*) > 1
),
found AS (
  SELECT
    dataset, election_year, election_type, dapil_id,
    unnest(list({province: province, regency: regency}), recursive := true),
    string_agg('"' || regency || ', ' || province || '"', ' and ' ORDER BY regency, province) AS names
  FROM spelled
  JOIN several USING (dataset, election_year, election_type, dapil_id, plain)
  GROUP BY dataset, election_year, election_type, dapil_id, plain
)
SELECT
  dataset, election_year, election_type, dapil_id, province, regency,
  'warning' AS severity,
  'regency' AS column_name,
  'one name' AS expected,
  names AS actual
FROM found
