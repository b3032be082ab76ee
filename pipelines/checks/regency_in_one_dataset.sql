-- Every regency is in both datasets. The check is skipped if a dataset has no rows.
-- en: the regency ({field}) is only in {dataset}
-- id: kabupaten/kota ini ({field}) hanya ada di {dataset}
SELECT
  CASE WHEN in_voters THEN 'voters' ELSE 'voting_rights_users' END AS dataset,
  election_year, election_type, dapil_id, province, regency,
  'warning' AS severity,
  'regency' AS column_name,
  'in both datasets' AS expected,
  'only in ' || CASE WHEN in_voters THEN 'voters' ELSE 'voting_rights_users' END AS actual
FROM regency_figures
WHERE NOT (in_voters AND in_users) AND EXISTS (SELECT 1 FROM voters) AND EXISTS (SELECT 1 FROM voting_rights_users)
