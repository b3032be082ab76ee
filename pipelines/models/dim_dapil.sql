-- Every electoral district of either dataset, once. `dim_regency` refers to it by dapil_key.
-- dapil_key: Election and district as one text; the same in every snapshot.
-- name: Name of the electoral district.
-- province: Its province; several are separated by commas.
-- regencies: Number of its regencies and cities.
-- seats: Seats of the district in the DPR-RI by the law of 2024; NULL for other elections.
WITH places AS (
  SELECT election_year, election_type, dapil_id, dapil_name, province, regency FROM voters
  UNION
  SELECT election_year, election_type, dapil_id, dapil_name, province, regency FROM voting_rights_users
),
districts AS (
  SELECT
    election_year, election_type, dapil_id,
    min(dapil_name) AS name,
    string_agg(DISTINCT province, ', ' ORDER BY province) AS province,
    count(DISTINCT (province, regency))::INTEGER AS regencies
  FROM places
  GROUP BY ALL
)
SELECT
  concat_ws(' / ', d.election_year, d.election_type, d.dapil_id) AS dapil_key,
  d.*,
  r.seats
FROM districts d
LEFT JOIN (VALUES $seats) AS r(dapil_id, seats) ON r.dapil_id = d.dapil_id AND d.election_year = 2024
ORDER BY ALL
