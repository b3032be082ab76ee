-- Turnout of the nation by sex, in percent. A regency with an unknown figure is left out of the sums, for all sexes alike.
-- regencies: Regencies in either dataset.
-- regencies_left_out: Regencies in which a figure is unknown that turnout on all lists is reckoned from, for men, women or both; none of their people are compared.
-- regencies_inconsistent: Regencies that are compared although their figures contradict themselves; see the table violations.
-- users_all: Users of their voting right on all lists, also of the regencies that are left out.
-- voters_all: Voters on all lists, also of the regencies that are left out.
-- users_compared: Users of the regencies that are compared; turnout is reckoned from these.
-- voters_compared: Voters of the regencies that are compared; turnout is reckoned from these.
-- voters_dpt_compared: Of these, voters in the permanent list (DPT).
-- voters_dpk_compared: Of these, voters in the additional list (DPK).
WITH sums AS (
  SELECT
    election_year, election_type, sex,
    count(*)::INTEGER AS regencies,
    count(*) FILTER (NOT is_complete)::INTEGER AS regencies_left_out,
    count(*) FILTER (is_complete AND NOT is_consistent)::INTEGER AS regencies_inconsistent,
    sum(users_all)::BIGINT AS users_all,
    sum(voters_all)::BIGINT AS voters_all,
    sum(users_all) FILTER (is_complete)::BIGINT AS users_compared,
    sum(voters_all) FILTER (is_complete)::BIGINT AS voters_compared,
    sum(voters_dpt) FILTER (is_complete)::BIGINT AS voters_dpt,
    sum(voters_dpk) FILTER (is_complete)::BIGINT AS voters_dpk
  FROM turnout
  GROUP BY ALL
)
SELECT
  * EXCLUDE (
    regencies, regencies_left_out, regencies_inconsistent,
    users_all, voters_all, users_compared, voters_compared, voters_dpt, voters_dpk
  ),
  round(100.0 * users_compared / nullif(voters_dpt + voters_dpk, 0), 2) AS users_per_dpt_and_dpk_pct,
  round(100.0 * users_compared / nullif(voters_dpt, 0), 2) AS users_per_dpt_pct,
  round(100.0 * users_compared / nullif(voters_compared, 0), 2) AS users_per_voters_pct,
  users_compared,
  voters_compared,
  voters_dpt AS voters_dpt_compared,
  voters_dpk AS voters_dpk_compared,
  users_all,
  voters_all,
  regencies,
  regencies_left_out,
  regencies_inconsistent
FROM sums
ORDER BY ALL
