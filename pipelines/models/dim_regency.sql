-- Every regency and city of either dataset, once. `fact_people` refers to it by regency_key, and it refers to `dim_dapil` by dapil_key.
-- regency_key: Election, district, province and regency as one text; the same in every snapshot.
-- dapil_key: Election and district as one text, as in dim_dapil.
WITH places AS (
  SELECT election_year, election_type, dapil_id, province, regency FROM voters
  UNION
  SELECT election_year, election_type, dapil_id, province, regency FROM voting_rights_users
)
SELECT
  concat_ws(' / ', election_year, election_type, dapil_id, province, regency) AS regency_key,
  regency,
  province,
  concat_ws(' / ', election_year, election_type, dapil_id) AS dapil_key
FROM places
ORDER BY ALL
