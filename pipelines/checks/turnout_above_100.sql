-- Every regency has at most as many voting-rights users as voters in the DPT and the DPK.
-- en: {column} ({field}) is {actual}, but the DPT and the DPK have only {limit} voters. Voters from other places (DPTb) can explain a small excess.
-- id: {column} ({field}) tercatat {actual}, padahal DPT dan DPK hanya memuat {limit} pemilih. Selisih kecil dapat berasal dari pemilih pindahan (DPTb).
SELECT
  'voting_rights_users' AS dataset,
  election_year, election_type, dapil_id, province, regency,
  'warning' AS severity,
  'grand_total' AS column_name,
  'at most ' || CAST(CAST(v.dpt_total AS BIGINT) + v.dpk_total AS VARCHAR(20)) AS expected,
  CAST(u.grand_total AS VARCHAR(20)) AS actual
FROM voting_rights_users u
JOIN voters v USING (election_year, election_type, dapil_id, province, regency)
WHERE u.grand_total > CAST(v.dpt_total AS BIGINT) + v.dpk_total
