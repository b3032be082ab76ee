-- The number of voting-rights users differs from the number of voters in the DPT and the DPK.
-- en: {column} ({field}) is {actual}, exactly the number of voters in the DPT and the DPK. In highland Papua, communities vote together (noken). Elsewhere, the figure may have been filled in.
-- id: {column} ({field}) tercatat {actual}, persis sama dengan jumlah pemilih dalam DPT dan DPK. Di wilayah pegunungan Papua, hal ini dapat terjadi karena sistem noken. Di wilayah lain, angka ini mungkin hanya diisi agar sama.
SELECT
  'voting_rights_users' AS dataset,
  election_year, election_type, dapil_id, province, regency,
  'warning' AS severity,
  'grand_total' AS column_name,
  'below ' || CAST(CAST(v.dpt_total AS BIGINT) + v.dpk_total AS VARCHAR(20)) AS expected,
  CAST(u.grand_total AS VARCHAR(20)) AS actual
FROM voting_rights_users u
JOIN voters v USING (election_year, election_type, dapil_id, province, regency)
WHERE u.grand_total = CAST(v.dpt_total AS BIGINT) + v.dpk_total AND u.grand_total > 0
