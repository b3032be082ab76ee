-- One row per regency or city, with the figures of both datasets side by side. The star schema and all turnout views are built on it.
-- dapil_name: Name of the electoral district, in the spelling that most of its rows use.
-- province: Name of the province, as in voters. If only voting_rights_users has the regency, as in that dataset.
-- regency: Name of the regency or city, as in voters. If only voting_rights_users has the regency, as in that dataset. Names that differ only in spaces, invisible characters or letter case are the same regency.
-- voters_*: voters
-- users_*: voting_rights_users
-- users_province: Name of the province in voting_rights_users. NULL if the regency is missing there.
-- users_regency: Name of the regency or city in voting_rights_users. NULL if it is missing there.
-- in_voters: True if voters has the regency.
-- in_users: True if voting_rights_users has the regency.
-- voters_is_consistent: True if the row in voters passes every check of severity error. NULL if voters has no such row.
-- users_is_consistent: True if the row in voting_rights_users passes every check of severity error. NULL if that dataset has no such row.
-- rate_status: compared, or why the rates exclude the regency: missing in a dataset, unknown (a figure is NULL), zero denominator (the DPT has no men or no women), or contradicting (a check of severity error fails).
-- primary key: election_year, election_type, dapil_id, province, regency
WITH names AS (
  SELECT election_year, election_type, dapil_id, dapil_name, count(*) AS row_count
  FROM (
    SELECT election_year, election_type, dapil_id, dapil_name FROM voters
    UNION ALL
    SELECT election_year, election_type, dapil_id, dapil_name FROM voting_rights_users
  ) AS districts_of_rows
  WHERE dapil_name IS NOT NULL
  GROUP BY election_year, election_type, dapil_id, dapil_name
),
ranked AS (
  SELECT *, row_number() OVER (PARTITION BY election_year, election_type, dapil_id ORDER BY row_count DESC, dapil_name) AS place
  FROM names
),
districts AS (
  SELECT election_year, election_type, dapil_id, dapil_name FROM ranked WHERE place = 1
),
only_voters AS (
  SELECT election_year, election_type, dapil_id, province, regency,
    lower(nfc_normalize(regexp_replace(province, '[\pZ\pC]', '', 'g'))) AS plain_province, lower(nfc_normalize(regexp_replace(regency, '[\pZ\pC]', '', 'g'))) AS plain_regency
  FROM (SELECT election_year, election_type, dapil_id, province, regency FROM voters EXCEPT SELECT election_year, election_type, dapil_id, province, regency FROM voting_rights_users) AS missing_users
),
only_users AS (
  SELECT election_year, election_type, dapil_id, province, regency,
    lower(nfc_normalize(regexp_replace(province, '[\pZ\pC]', '', 'g'))) AS plain_province, lower(nfc_normalize(regexp_replace(regency, '[\pZ\pC]', '', 'g'))) AS plain_regency
  FROM (SELECT election_year, election_type, dapil_id, province, regency FROM voting_rights_users EXCEPT SELECT election_year, election_type, dapil_id, province, regency FROM voters) AS missing_voters
),
-- Regencies that the two datasets spell differently: the check regency_names compares names in the same way. A spelling that fits several rows isn't matched.
spellings AS (
  SELECT
    election_year, election_type, dapil_id,
    min(u.province) AS province, min(u.regency) AS regency,
    min(v.province) AS voters_province, min(v.regency) AS voters_regency
  FROM only_voters v
  JOIN only_users u USING (election_year, election_type, dapil_id, plain_province, plain_regency)
  GROUP BY election_year, election_type, dapil_id, plain_province, plain_regency
  HAVING count(*) = 1
),
users AS (
  SELECT
    u.election_year, u.election_type, u.dapil_id,
    coalesce(s.voters_province, u.province) AS province,
    coalesce(s.voters_regency, u.regency) AS regency,
    u.province AS users_province, u.regency AS users_regency,
    u.dpt_male, u.dpt_female, u.dpt_total, u.dptb_male, u.dptb_female, u.dptb_total,
    u.dpk_male, u.dpk_female, u.dpk_total, u.male_total, u.female_total, u.grand_total,
    u.is_consistent
  FROM voting_rights_users u
  LEFT JOIN spellings s
    ON s.election_year = u.election_year AND s.election_type = u.election_type AND s.dapil_id = u.dapil_id
    AND s.province = u.province AND s.regency = u.regency
),
pairs AS (
  SELECT
    election_year, election_type, dapil_id, province, regency,
    users_province, users_regency,
    v.dpt_male AS voters_dpt_male, v.dpt_female AS voters_dpt_female, v.dpt_total AS voters_dpt_total,
    v.dptb_male AS voters_dptb_male, v.dptb_female AS voters_dptb_female, v.dptb_total AS voters_dptb_total,
    v.dpk_male AS voters_dpk_male, v.dpk_female AS voters_dpk_female, v.dpk_total AS voters_dpk_total,
    v.male_total AS voters_male_total, v.female_total AS voters_female_total, v.grand_total AS voters_grand_total,
    v.is_consistent AS voters_is_consistent,
    u.dpt_male AS users_dpt_male, u.dpt_female AS users_dpt_female, u.dpt_total AS users_dpt_total,
    u.dptb_male AS users_dptb_male, u.dptb_female AS users_dptb_female, u.dptb_total AS users_dptb_total,
    u.dpk_male AS users_dpk_male, u.dpk_female AS users_dpk_female, u.dpk_total AS users_dpk_total,
    u.male_total AS users_male_total, u.female_total AS users_female_total, u.grand_total AS users_grand_total,
    u.is_consistent AS users_is_consistent
  FROM voters v
  FULL JOIN users u USING (election_year, election_type, dapil_id, province, regency)
),
figures AS (
  SELECT
    *,
    voters_is_consistent IS NOT NULL AS in_voters,
    users_is_consistent IS NOT NULL AS in_users,
    -- NULL if any of them is unknown.
    CAST(voters_dpt_male AS BIGINT) + voters_dpt_female + voters_dpt_total + voters_dptb_male + voters_dptb_female + voters_dptb_total
      + voters_dpk_male + voters_dpk_female + voters_dpk_total + voters_male_total + voters_female_total + voters_grand_total
      + users_dpt_male + users_dpt_female + users_dpt_total + users_dptb_male + users_dptb_female + users_dptb_total
      + users_dpk_male + users_dpk_female + users_dpk_total + users_male_total + users_female_total + users_grand_total AS sum_of_all
  FROM pairs
)
SELECT
  election_year, election_type, dapil_id, dapil_name, province, regency,
  voters_dpt_male, voters_dpt_female, voters_dpt_total, voters_dptb_male, voters_dptb_female, voters_dptb_total,
  voters_dpk_male, voters_dpk_female, voters_dpk_total, voters_male_total, voters_female_total, voters_grand_total,
  voters_is_consistent,
  users_dpt_male, users_dpt_female, users_dpt_total, users_dptb_male, users_dptb_female, users_dptb_total,
  users_dpk_male, users_dpk_female, users_dpk_total, users_male_total, users_female_total, users_grand_total,
  users_is_consistent,
  users_province, users_regency,
  in_voters,
  in_users,
  CASE
    WHEN NOT (in_voters AND in_users) THEN 'missing in a dataset'
    WHEN sum_of_all IS NULL THEN 'unknown'
    WHEN voters_dpt_male = 0 OR voters_dpt_female = 0 OR voters_dpt_total = 0 THEN 'zero denominator'
    WHEN NOT (voters_is_consistent AND users_is_consistent) THEN 'contradicting'
    ELSE 'compared'
  END AS rate_status
FROM figures
LEFT JOIN districts USING (election_year, election_type, dapil_id)
