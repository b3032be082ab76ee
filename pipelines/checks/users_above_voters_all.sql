-- No regency has more users of their voting right on all lists than voters on all lists.
SELECT
  'voting_rights_users' AS dataset,
  u.election_year, u.election_type, u.dapil_id, u.province, u.regency,
  'error' AS severity,
  'grand_total' AS column_name,
  'at most ' || v.grand_total AS expected,
  u.grand_total::VARCHAR AS actual,
  u.grand_total || ' users, but ' || v.grand_total || ' voters on all lists' AS message
FROM voting_rights_users u
JOIN voters v USING (election_year, election_type, dapil_id, province, regency)
WHERE u.grand_total > v.grand_total
