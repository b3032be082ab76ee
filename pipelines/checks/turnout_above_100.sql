-- In every regency, at most as many people voted as there are voters in the DPT and the DPK.
-- en: {column} ({field}) is {actual}, but the DPT and the DPK have only {limit} voters. Voters from other places (DPTb) can explain a small excess.
-- id: {column} ({field}) tercatat {actual}, padahal DPT dan DPK hanya memuat {limit} pemilih. Selisih kecil dapat berasal dari pemilih pindahan (DPTb).
SELECT
  'voting_rights_users' AS dataset,
  election_year, election_type, dapil_id, users_province AS province, users_regency AS regency,
  'warning' AS severity,
  'grand_total' AS column_name,
  'at most ' || CAST(CAST(voters_dpt_total AS BIGINT) + voters_dpk_total AS VARCHAR(20)) AS expected,
  CAST(users_grand_total AS VARCHAR(20)) AS actual
FROM regency_figures
WHERE users_grand_total > CAST(voters_dpt_total AS BIGINT) + voters_dpk_total
