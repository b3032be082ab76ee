-- Turnout per electoral district and sex, in percent. A regency with an unknown figure is left out of the sums, for all sexes alike.
-- regencies: Regencies in either dataset.
-- regencies_left_out: Regencies in which a figure is unknown that turnout on all lists is reckoned from, for men, women or both; none of their people are in the sums.
-- regencies_inconsistent: Regencies in the sums whose figures contradict themselves; see the table violations.
WITH sums AS (
  SELECT
    election_year, election_type, dapil_id, min(dapil_name) AS dapil_name, sex,
    count(*)::INTEGER AS regencies,
    count(*) FILTER (NOT is_complete)::INTEGER AS regencies_left_out,
    count(*) FILTER (is_complete AND NOT is_consistent)::INTEGER AS regencies_inconsistent,
    sum(users) FILTER (is_complete)::BIGINT AS users,
    sum(voters) FILTER (is_complete)::BIGINT AS voters,
    sum(voters_dpt) FILTER (is_complete)::BIGINT AS voters_dpt,
    sum(voters_dpk) FILTER (is_complete)::BIGINT AS voters_dpk
  FROM turnout
  GROUP BY ALL
)
SELECT
  *,
  round(100.0 * users / nullif(voters_dpt, 0), 2) AS users_per_dpt_pct,
  round(100.0 * users / nullif(voters_dpt + voters_dpk, 0), 2) AS users_per_dpt_and_dpk_pct,
  round(100.0 * users / nullif(voters, 0), 2) AS users_per_voters_pct
FROM sums
ORDER BY ALL
