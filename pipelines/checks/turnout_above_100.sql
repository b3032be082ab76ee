-- No regency has more users of their voting right than voters in the DPT and the DPK.
-- en: {column} ({field}) is {actual} users, but the DPT and the DPK have {limit} voters; people who moved here to vote (DPTb) can explain a small excess
-- id: {column} ({field}) adalah {actual} pengguna, padahal DPT dan DPK memuat {limit} pemilih; kelebihan kecil dapat berasal dari pemilih pindahan (DPTb)
SELECT
  'voting_rights_users' AS dataset,
  election_year, election_type, dapil_id, province, regency,
  'warning' AS severity,
  'grand_total' AS column_name,
  'at most ' || (v.dpt_total::BIGINT + v.dpk_total) AS expected,
  u.grand_total::VARCHAR AS actual
FROM voting_rights_users u
JOIN voters v USING (election_year, election_type, dapil_id, province, regency)
WHERE u.grand_total > v.dpt_total::BIGINT + v.dpk_total
