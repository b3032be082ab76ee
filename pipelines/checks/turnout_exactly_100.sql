-- Not every voter in the DPT and the DPK used the voting right.
-- en: {column} ({field}) is {actual} users, exactly as many as the voters in the DPT and the DPK; in highland Papua communities vote together (noken), elsewhere the figure may have been filled in
-- id: {column} ({field}) adalah {actual} pengguna, persis sama dengan jumlah pemilih dalam DPT dan DPK; di Papua pegunungan ini dapat terjadi karena sistem noken, di tempat lain angka ini mungkin sekadar diisi
SELECT
  'voting_rights_users' AS dataset,
  election_year, election_type, dapil_id, province, regency,
  'warning' AS severity,
  'grand_total' AS column_name,
  'below ' || (v.dpt_total::BIGINT + v.dpk_total) AS expected,
  u.grand_total::VARCHAR AS actual
FROM voting_rights_users u
JOIN voters v USING (election_year, election_type, dapil_id, province, regency)
WHERE u.grand_total = v.dpt_total::BIGINT + v.dpk_total AND u.grand_total > 0
