-- Men and women are not equally many in all three lists.
-- en: men and women are equally many in all three lists: {actual} in all ({field}); the figures may have been halved instead of counted
-- id: jumlah laki-laki dan perempuan sama di ketiga daftar: {actual} secara keseluruhan ({field}); angka mungkin dibagi dua, bukan dihitung
WITH datasets AS (
  SELECT 'voters' AS dataset, * FROM voters
  UNION ALL BY NAME
  SELECT 'voting_rights_users' AS dataset, * FROM voting_rights_users
)
SELECT
  dataset, election_year, election_type, dapil_id, province, regency,
  'warning' AS severity,
  'female_total' AS column_name,
  'different from men in a list' AS expected,
  (dpt_female::BIGINT + dptb_female + dpk_female)::VARCHAR AS actual
FROM datasets
WHERE dpt_male = dpt_female AND dptb_male = dptb_female AND dpk_male = dpk_female AND dpt_male > 0
