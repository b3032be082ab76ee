-- One row per election and electoral district in either dataset. Join it to `fact_people` on dapil_key.
-- dapil_key: Integer key of the district. It is the same in every snapshot.
-- dapil_natural_key: Election and district as one text.
-- provinces: Province of the district. If there are several, they are separated by commas.
-- regencies: Number of regencies and cities in the district. Unit: regencies.
-- seats: Seats of the district in the DPR-RI in the 2024 election. NULL for other elections. Unit: seats.
-- primary key: dapil_key
WITH districts AS (
  SELECT
    concat_ws(' / ', election_year, election_type, dapil_id) AS dapil_natural_key,
    election_year, election_type, dapil_id,
    any_value(dapil_name) AS dapil_name,
    string_agg(DISTINCT province, ', ' ORDER BY province) AS provinces,
    count(*)::INTEGER AS regencies
  FROM regency_figures
  GROUP BY ALL
)
SELECT (md5_number_lower(dapil_natural_key) >> 15)::BIGINT AS dapil_key, d.*, r.seats
FROM districts d
LEFT JOIN (VALUES $seats) AS r(dapil_id, seats) ON r.dapil_id = d.dapil_id AND d.election_year = 2024
ORDER BY ALL
