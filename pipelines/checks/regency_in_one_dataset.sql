-- Both datasets have every regency, provided that both have rows at all.
-- en: only {dataset} has this regency ({field})
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
