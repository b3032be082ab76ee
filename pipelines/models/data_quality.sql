-- How far the figures of each district and dataset agree with themselves.
-- dataset: voters or voting_rights_users.
-- dapil_key: The district, as in dim_dapil.
-- regencies: Its regencies and cities in the dataset.
-- regencies_consistent: Those that break no check of severity error.
-- consistent_pct: The same in percent.
-- errors: Violations of severity error.
-- warnings: Violations of severity warning.
-- people_in_totals: People by the source's own totals.
-- people_in_lists: People by its counts of men and women on each list, as in fact_people.
WITH datasets AS (
  SELECT 'voters' AS dataset, * FROM voters
  UNION ALL BY NAME
  SELECT 'voting_rights_users' AS dataset, * FROM voting_rights_users
),
districts AS (
  SELECT
    dataset, election_year, election_type, dapil_id,
    count(*)::INTEGER AS regencies,
    count(*) FILTER (is_consistent)::INTEGER AS regencies_consistent,
    sum(grand_total)::BIGINT AS people_in_totals,
    (coalesce(sum(dpt_male), 0) + coalesce(sum(dpt_female), 0) + coalesce(sum(dptb_male), 0) + coalesce(sum(dptb_female), 0)
      + coalesce(sum(dpk_male), 0) + coalesce(sum(dpk_female), 0))::BIGINT AS people_in_lists
  FROM datasets
  GROUP BY ALL
),
doubts AS (
  SELECT
    dataset, election_year, election_type, dapil_id,
    count(*) FILTER (severity = 'error')::INTEGER AS errors,
    count(*) FILTER (severity = 'warning')::INTEGER AS warnings
  FROM violations
  GROUP BY ALL
)
SELECT
  dataset,
  concat_ws(' / ', election_year, election_type, dapil_id) AS dapil_key,
  regencies,
  regencies_consistent,
  round(100.0 * regencies_consistent / regencies, 2) AS consistent_pct,
  coalesce(errors, 0) AS errors,
  coalesce(warnings, 0) AS warnings,
  people_in_totals,
  people_in_lists
FROM districts
LEFT JOIN doubts USING (dataset, election_year, election_type, dapil_id)
ORDER BY ALL
