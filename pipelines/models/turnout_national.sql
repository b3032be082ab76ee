-- Turnout of the nation by sex, in percent. A regency with an unknown figure is left out of the sums.
-- regencies: Regencies in either dataset.
-- regencies_left_out: Regencies whose figures are not all known; none of their people are in the sums.
-- regencies_inconsistent: Regencies in the sums whose figures contradict themselves; see the table violations.
WITH known AS (
  SELECT *, users IS NOT NULL AND voters IS NOT NULL AND voters_dpt IS NOT NULL AND voters_dpk IS NOT NULL AS is_known
  FROM turnout
),
sums AS (
  SELECT
    election_year, election_type, sex,
    count(*)::INTEGER AS regencies,
    count(*) FILTER (NOT is_known)::INTEGER AS regencies_left_out,
    count(*) FILTER (is_known AND NOT is_consistent)::INTEGER AS regencies_inconsistent,
    sum(users) FILTER (is_known)::BIGINT AS users,
    sum(voters) FILTER (is_known)::BIGINT AS voters,
    sum(voters_dpt) FILTER (is_known)::BIGINT AS voters_dpt,
    sum(voters_dpk) FILTER (is_known)::BIGINT AS voters_dpk
  FROM known
  GROUP BY ALL
)
SELECT
  *,
  round(100.0 * users / nullif(voters_dpt, 0), 2) AS users_per_dpt_pct,
  round(100.0 * users / nullif(voters_dpt + voters_dpk, 0), 2) AS users_per_dpt_and_dpk_pct,
  round(100.0 * users / nullif(voters, 0), 2) AS users_per_voters_pct
FROM sums
ORDER BY ALL
