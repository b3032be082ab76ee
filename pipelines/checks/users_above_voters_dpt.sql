-- No regency has more users of their voting right in the permanent list (DPT) than voters in the permanent list (DPT).
SELECT
  'voting_rights_users' AS dataset,
  u.election_year, u.election_type, u.dapil_id, u.province, u.regency,
  'error' AS severity,
  'dpt_total' AS column_name,
  'at most ' || v.dpt_total AS expected,
  u.dpt_total::VARCHAR AS actual,
  u.dpt_total || ' users, but ' || v.dpt_total || ' voters in the permanent list (DPT)' AS message
FROM voting_rights_users u
JOIN voters v USING (election_year, election_type, dapil_id, province, regency)
WHERE u.dpt_total > v.dpt_total
