-- One row per election and province in either dataset. Join it to `fact_people` on province_key.
-- province_key: Integer key of the province. It is the same in every snapshot.
-- province_natural_key: Election and province as one text.
-- kemendagri_code: Code of the interior ministry (Kemendagri), such as 11. NULL if no official name matches.
-- primary key: province_key
-- province: Name of the province.
WITH provinces AS (
  SELECT DISTINCT concat_ws(' / ', election_year, election_type, province) AS province_natural_key, province
  FROM regency_figures
)
SELECT (md5_number_lower(province_natural_key) >> 15)::BIGINT AS province_key, p.*, c.kemendagri_code
FROM provinces p
LEFT JOIN (VALUES $province_codes) AS c(kemendagri_code, name) ON c.name = regexp_replace(replace(regexp_replace(upper(p.province), '^KAB(UPATEN|[.]) ', ''), 'KEP.', 'KEPULAUAN'), '[^A-Z0-9]', '', 'g')
ORDER BY ALL
