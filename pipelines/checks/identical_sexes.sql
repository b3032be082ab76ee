-- The numbers of men and women differ in at least one of the three lists.
-- en: the numbers of men and women are equal in all three lists, with a total of {actual} women ({field}). The figures may have been halved instead of counted.
-- id: jumlah laki-laki dan perempuan sama di ketiga daftar, dengan total {actual} perempuan ({field}). Angka ini mungkin hasil pembagian dua, bukan hasil penghitungan.
WITH datasets AS (
  SELECT 'voters' AS dataset, election_year, election_type, dapil_id, province, regency, dpt_male, dpt_female, dptb_male, dptb_female, dpk_male, dpk_female
  FROM voters
  UNION ALL
  SELECT 'voting_rights_users', election_year, election_type, dapil_id, province, regency, dpt_male, dpt_female, dptb_male, dptb_female, dpk_male, dpk_female
  FROM voting_rights_users
)
SELECT
  dataset, election_year, election_type, dapil_id, province, regency,
  'warning' AS severity,
  'female_total' AS column_name,
  'different from men in a list' AS expected,
  CAST(CAST(dpt_female AS BIGINT) + dptb_female + dpk_female AS VARCHAR(20)) AS actual
FROM datasets
WHERE dpt_male = dpt_female AND dptb_male = dptb_female AND dpk_male = dpk_female AND dpt_male > 0
