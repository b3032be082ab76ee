-- One row per election and regency or city in either dataset. Join it to `fact_people` on regency_key.
-- regency_key: Integer key of the regency. It is the same in every snapshot.
-- regency_natural_key: Election, district, province and regency as one text.
-- province_of_regency: Name of its province.
-- dapil_of_regency: Name of its electoral district.
-- kemendagri_code: Code of the interior ministry (Kemendagri), such as 11.01. NULL if no official name within the province matches.
-- primary key: regency_key
WITH regencies AS (
  SELECT
    concat_ws(' / ', election_year, election_type, dapil_id, province, regency) AS regency_natural_key,
    regency, province, dapil_name, in_voters, in_users, rate_status
  FROM regency_figures
)
SELECT
  (md5_number_lower(regency_natural_key) >> 15)::BIGINT AS regency_key,
  regency_natural_key, regency, r.province AS province_of_regency, dapil_name AS dapil_of_regency, c.kemendagri_code, in_voters, in_users, rate_status
FROM regencies r
LEFT JOIN (VALUES $province_codes) AS p(kemendagri_code, name) ON p.name = regexp_replace(replace(regexp_replace(upper(r.province), '^KAB(UPATEN|[.]) ', ''), 'KEP.', 'KEPULAUAN'), '[^A-Z0-9]', '', 'g')
LEFT JOIN (VALUES $regency_codes) AS c(province_code, kemendagri_code, name)
  ON c.province_code = p.kemendagri_code AND c.name = regexp_replace(replace(regexp_replace(upper(r.regency), '^KAB(UPATEN|[.]) ', ''), 'KEP.', 'KEPULAUAN'), '[^A-Z0-9]', '', 'g')

