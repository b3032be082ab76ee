-- One row per electoral district: its name, provinces, number of regencies, and its voters and users of the voting right. Sums leave unknown figures out.
-- provinces: Names of its provinces, separated by commas.
-- regencies: Number of its regencies and cities.
WITH places AS (
  SELECT election_year, election_type, dapil_id, dapil_name, province, regency FROM voters
  UNION
  SELECT election_year, election_type, dapil_id, dapil_name, province, regency FROM voting_rights_users
),
districts AS (
  SELECT
    election_year, election_type, dapil_id,
    min(dapil_name) AS dapil_name,
    string_agg(DISTINCT province, ', ' ORDER BY province) AS provinces,
    count(DISTINCT (province, regency))::INTEGER AS regencies
  FROM places
  GROUP BY ALL
),
voter_sums AS (
  SELECT election_year, election_type, dapil_id, sum(dpt_total)::BIGINT AS voters_dpt, sum(grand_total)::BIGINT AS voters
  FROM voters
  GROUP BY ALL
),
user_sums AS (
  SELECT election_year, election_type, dapil_id, sum(grand_total)::BIGINT AS users
  FROM voting_rights_users
  GROUP BY ALL
)
SELECT d.*, v.voters_dpt, v.voters, u.users
FROM districts d
LEFT JOIN voter_sums v USING (election_year, election_type, dapil_id)
LEFT JOIN user_sums u USING (election_year, election_type, dapil_id)
ORDER BY ALL
