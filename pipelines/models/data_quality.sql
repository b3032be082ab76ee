-- Data quality by dataset and electoral district: how well the figures agree with each other. `reconciliation` lists the rows behind the differences.
-- dataset: voters or voting_rights_users.
-- dapil_key: The district, as in dim_dapil.
-- regencies: Number of rows of the district in the dataset. Unit: regencies.
-- regencies_consistent: Rows that pass every check of severity error. Unit: regencies.
-- consistent_pct: regencies_consistent divided by regencies, in percent.
-- errors: Number of violations of severity error. Unit: rows.
-- warnings: Number of violations of severity warning. Unit: rows.
-- unknown_figures: Number of figures that are NULL.
-- unequal_sums: Number of rows in `reconciliation`: totals that are unknown, differ from the sum of their parts, or have an unknown part.
-- people_differing: Sum of the absolute differences between these totals and the sums of their known parts. Unit: people.
-- people_in_totals: Sum of the known values of grand_total. Unit: people.
-- people_in_lists: Sum of the known numbers of men and women on each list, as in the rows of fact_people with a known sex. Unit: people.
WITH datasets AS (
  SELECT 'voters' AS dataset, * FROM voters
  UNION ALL BY NAME
  SELECT 'voting_rights_users' AS dataset, * FROM voting_rights_users
),
districts AS (
  SELECT
    dataset, election_year, election_type, dapil_id,
    count(*)::INTEGER AS regencies,
    (count(*) FILTER (is_consistent))::INTEGER AS regencies_consistent,
    sum(12 - list_count([*COLUMNS('_(total|male|female)$')]))::BIGINT AS unknown_figures,
    sum(grand_total)::BIGINT AS people_in_totals,
    sum(list_sum([dpt_male, dpt_female, dptb_male, dptb_female, dpk_male, dpk_female]))::BIGINT AS people_in_lists
  FROM datasets
  GROUP BY ALL
),
doubts AS (
  SELECT
    dataset, election_year, election_type, dapil_id,
    (count(*) FILTER (severity = 'error'))::INTEGER AS errors,
    (count(*) FILTER (severity = 'warning'))::INTEGER AS warnings
  FROM violations
  GROUP BY ALL
),
unequal AS (
  SELECT
    dataset, election_year, election_type, dapil_id,
    count(*)::INTEGER AS unequal_sums,
    sum(abs(difference))::BIGINT AS people_differing
  FROM reconciliation
  GROUP BY ALL
)
SELECT
  dataset,
  (md5_number_lower(concat_ws(' / ', election_year, election_type, dapil_id)) >> 15)::BIGINT AS dapil_key,
  election_year, election_type, dapil_id,
  regencies,
  regencies_consistent,
  100.0 * regencies_consistent / regencies AS consistent_pct,
  coalesce(errors, 0) AS errors,
  coalesce(warnings, 0) AS warnings,
  unknown_figures,
  coalesce(unequal_sums, 0) AS unequal_sums,
  coalesce(people_differing, 0) AS people_differing,
  people_in_totals,
  people_in_lists
FROM districts
LEFT JOIN doubts USING (dataset, election_year, election_type, dapil_id)
LEFT JOIN unequal USING (dataset, election_year, election_type, dapil_id)
ORDER BY ALL
