-- No regency has more users of their voting right in the additional list (DPK) than voters in the additional list (DPK).
SELECT
  'voting_rights_users' AS dataset,
  u.election_year, u.election_type, u.dapil_id, u.province, u.regency,
  'warning' AS severity,
  'dpk_total' AS column_name,
  'at most ' || v.dpk_total AS expected,
  u.dpk_total::VARCHAR AS actual,
  u.dpk_total || ' users, but ' || v.dpk_total || ' voters in the additional list (DPK)' AS message
FROM voting_rights_users u
JOIN voters v USING (election_year, election_type, dapil_id, province, regency)
WHERE u.dpk_total > v.dpk_total
