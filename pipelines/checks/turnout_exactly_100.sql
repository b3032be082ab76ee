-- The number of people who voted differs from the number of voters in the DPT and the DPK.
-- en: {column} ({field}) is {actual}, exactly the number of voters in the DPT and the DPK. In highland Papua, communities vote together (noken). Elsewhere, the figure may have been filled in.
-- id: {column} ({field}) tercatat {actual}, persis sama dengan jumlah pemilih dalam DPT dan DPK. Di wilayah pegunungan Papua, hal ini dapat terjadi karena sistem noken. Di wilayah lain, angka ini mungkin hanya diisi agar sama.
SELECT
  'voting_rights_users' AS dataset,
  election_year, election_type, dapil_id, users_province AS province, users_regency AS regency,
  'warning' AS severity,
  'grand_total' AS column_name,
  'below ' || CAST(CAST(voters_dpt_total AS BIGINT) + voters_dpk_total AS VARCHAR(20)) AS expected,
  CAST(users_grand_total AS VARCHAR(20)) AS actual
FROM regency_figures
WHERE users_grand_total = CAST(voters_dpt_total AS BIGINT) + voters_dpk_total AND users_grand_total > 0
