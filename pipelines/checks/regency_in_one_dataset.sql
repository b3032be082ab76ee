-- Every regency stands in both datasets, once both have been read.
-- en: the regency ({field}) is in {dataset} alone
-- id: kabupaten/kota ini ({field}) hanya ada di {dataset}
WITH only_one AS (
  SELECT
    CASE WHEN u.is_consistent IS NULL THEN 'voters' ELSE 'voting_rights_users' END AS dataset,
    CASE WHEN u.is_consistent IS NULL THEN 'voting_rights_users' ELSE 'voters' END AS other,
    election_year, election_type, dapil_id, province, regency
  FROM voters v
  FULL JOIN voting_rights_users u USING (election_year, election_type, dapil_id, province, regency)
  -- is_consistent is never NULL in a row of its own
  WHERE u.is_consistent IS NULL OR v.is_consistent IS NULL
)
SELECT
  dataset, election_year, election_type, dapil_id, province, regency,
  'warning' AS severity,
  'regency' AS column_name,
  'in both datasets' AS expected,
  'only in ' || dataset AS actual
FROM only_one
WHERE EXISTS (SELECT 1 FROM voters) AND EXISTS (SELECT 1 FROM voting_rights_users)
