-- No regency has more users of their voting right in the supplementary list (DPTb) than voters in the supplementary list (DPTb).
SELECT
  'voting_rights_users' AS dataset,
  u.election_year, u.election_type, u.dapil_id, u.province, u.regency,
  'warning' AS severity,
  'dptb_total' AS column_name,
  'at most ' || v.dptb_total AS expected,
  u.dptb_total::VARCHAR AS actual,
  u.dptb_total || ' users, but ' || v.dptb_total || ' voters in the supplementary list (DPTb)' AS message
FROM voting_rights_users u
JOIN voters v USING (election_year, election_type, dapil_id, province, regency)
WHERE u.dptb_total > v.dptb_total
