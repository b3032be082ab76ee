-- One row per regency or city, with the figures of both datasets side by side. The star schema and all turnout views are built on it.
-- dapil_name: Name of the electoral district, in the spelling that most of its rows use.
-- province: Name of the province, as in voters. If only voting_rights_users has the regency, as in that dataset.
-- regency: Name of the regency or city, as in voters. If only voting_rights_users has the regency, as in that dataset. Names that differ only in spaces or letter case are the same regency.
-- voters_*: voters
-- users_*: voting_rights_users
-- in_voters: True if voters has the regency.
-- in_users: True if voting_rights_users has the regency.
-- voters_is_consistent: True if the row in voters passes every check of severity error. NULL if voters has no such row.
-- users_is_consistent: True if the row in voting_rights_users passes every check of severity error. NULL if that dataset has no such row.
-- rate_status: compared, or why the rates exclude the regency: missing in a dataset, unknown (a figure is NULL), zero denominator (the DPT has no men or no women), or contradicting (a check of severity error fails).
-- primary key: election_year, election_type, dapil_id, province, regency
WITH names AS (
  SELECT election_year, election_type, dapil_id, dapil_name, count(*) AS row_count
  FROM (SELECT * FROM voters UNION ALL BY NAME SELECT * FROM voting_rights_users)
  WHERE dapil_name IS NOT NULL
  GROUP BY ALL
),
districts AS (
  SELECT election_year, election_type, dapil_id, min_by(dapil_name, row(-row_count, dapil_name)) AS dapil_name
  FROM names
  GROUP BY ALL
),
only_voters AS (
  SELECT *, lower(replace(province, ' ', '')) AS plain_province, lower(replace(regency, ' ', '')) AS plain_regency
  FROM voters ANTI JOIN voting_rights_users USING (election_year, election_type, dapil_id, province, regency)
),
only_users AS (
  SELECT *, lower(replace(province, ' ', '')) AS plain_province, lower(replace(regency, ' ', '')) AS plain_regency
  FROM voting_rights_users ANTI JOIN voters USING (election_year, election_type, dapil_id, province, regency)
),
-- Regencies that the two datasets spell differently. A spelling that fits several rows isn't matched.
spellings AS (
  SELECT
    election_year, election_type, dapil_id,
    any_value(u.province) AS province, any_value(u.regency) AS regency,
    any_value(v.province) AS voters_province, any_value(v.regency) AS voters_regency
  FROM only_voters v
  JOIN only_users u USING (election_year, election_type, dapil_id, plain_province, plain_regency)
  GROUP BY election_year, election_type, dapil_id, plain_province, plain_regency
  HAVING count(*) = 1
),
users AS (
  SELECT u.* REPLACE (
    coalesce(s.voters_province, u.province) AS province,
    coalesce(s.voters_regency, u.regency) AS regency
  )
  FROM voting_rights_users u
  LEFT JOIN spellings s USING (election_year, election_type, dapil_id, province, regency)
),
pairs AS (
  SELECT
    election_year, election_type, dapil_id, province, regency,
    COLUMNS(v.* EXCLUDE (election_year, election_type, dapil_id, dapil_name, province, regency)) AS 'voters_\0',
    COLUMNS(u.* EXCLUDE (election_year, election_type, dapil_id, dapil_name, province, regency)) AS 'users_\0'
  FROM voters v
  FULL JOIN users u USING (election_year, election_type, dapil_id, province, regency)
),
counted AS (
  SELECT *, list_count([*COLUMNS('_(total|male|female)$')]) AS known_figures FROM pairs
)
SELECT
  election_year, election_type, dapil_id, dapil_name,
  counted.* EXCLUDE (election_year, election_type, dapil_id, known_figures),
  voters_is_consistent IS NOT NULL AS in_voters,
  users_is_consistent IS NOT NULL AS in_users,
  CASE
    WHEN NOT (in_voters AND in_users) THEN 'missing in a dataset'
    WHEN known_figures < 24 THEN 'unknown'
    WHEN voters_dpt_male = 0 OR voters_dpt_female = 0 OR voters_dpt_total = 0 THEN 'zero denominator'
    WHEN NOT (voters_is_consistent AND users_is_consistent) THEN 'contradicting'
    ELSE 'compared'
  END AS rate_status
FROM counted
LEFT JOIN districts USING (election_year, election_type, dapil_id)
