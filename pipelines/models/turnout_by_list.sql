-- National rates by list and sex: people who voted divided by voters, in percent and not rounded. The rates include only regencies whose rate_status is compared and that have voters on the list.
-- list: DPT, DPTb or DPK.
-- users_per_voters_pct: users_compared divided by voters_compared, in percent.
-- users_compared: People who voted, on the list in the compared regencies. Unit: people.
-- voters_compared: Voters on the list in the compared regencies. Unit: people.
-- regencies: Number of regencies in either dataset: regencies_compared + regencies_missing + regencies_unknown + regencies_zero_denominator + regencies_contradicting. Unit: regencies.
-- regencies_compared: Regencies that the rate includes. Unit: regencies.
-- regencies_zero_denominator: Regencies without voters on the list, or without men or without women in the DPT. Unit: regencies.
-- users_per_voters_pct_with_contradicting: users_per_voters_pct, including the contradicting regencies.
-- users_with_contradicting: Numerator of users_per_voters_pct_with_contradicting.
-- voters_with_contradicting: Denominator of users_per_voters_pct_with_contradicting.
-- regencies_missing: Regencies that are missing in one dataset. Unit: regencies.
-- regencies_unknown: Regencies with an unknown figure in either dataset. Unit: regencies.
-- regencies_contradicting: Regencies whose figures fail a check of severity error. See the table violations. Unit: regencies.
WITH lists AS (
  SELECT
    election_year, election_type, sex, list, rate_status AS status_of_regency,
    CASE list WHEN 'DPT' THEN users_dpt WHEN 'DPTb' THEN users_dptb ELSE users_dpk END AS users,
    CASE list WHEN 'DPT' THEN voters_dpt WHEN 'DPTb' THEN voters_dptb ELSE voters_dpk END AS voters
  FROM turnout
  CROSS JOIN (VALUES ('DPT'), ('DPTb'), ('DPK')) AS lists (list)
),
figures AS (
  SELECT
    election_year, election_type, sex, list, users, voters,
    CASE WHEN status_of_regency IN ('compared', 'contradicting') AND voters = 0 THEN 'zero denominator' ELSE status_of_regency END AS rate_status
  FROM lists
),
sums AS (
  SELECT
    election_year, election_type, list, sex,
    CAST(count(*) AS INTEGER) AS regencies,
    CAST(count(*) FILTER (WHERE rate_status = 'compared') AS INTEGER) AS regencies_compared,
    CAST(count(*) FILTER (WHERE rate_status = 'missing in a dataset') AS INTEGER) AS regencies_missing,
    CAST(count(*) FILTER (WHERE rate_status = 'unknown') AS INTEGER) AS regencies_unknown,
    CAST(count(*) FILTER (WHERE rate_status = 'zero denominator') AS INTEGER) AS regencies_zero_denominator,
    CAST(count(*) FILTER (WHERE rate_status = 'contradicting') AS INTEGER) AS regencies_contradicting,
    CAST(sum(users) FILTER (WHERE rate_status = 'compared') AS BIGINT) AS users_compared,
    CAST(sum(voters) FILTER (WHERE rate_status = 'compared') AS BIGINT) AS voters_compared,
    CAST(sum(users) FILTER (WHERE rate_status IN ('compared', 'contradicting')) AS BIGINT) AS users_with_contradicting,
    CAST(sum(voters) FILTER (WHERE rate_status IN ('compared', 'contradicting')) AS BIGINT) AS voters_with_contradicting
  FROM figures
  GROUP BY election_year, election_type, list, sex
)
SELECT
  election_year, election_type, list, sex,
  1e2 * users_compared / nullif(voters_compared, 0) AS users_per_voters_pct,
  users_compared,
  voters_compared,
  regencies, regencies_compared, regencies_missing, regencies_unknown, regencies_zero_denominator, regencies_contradicting,
  1e2 * users_with_contradicting / nullif(voters_with_contradicting, 0) AS users_per_voters_pct_with_contradicting,
  users_with_contradicting,
  voters_with_contradicting
FROM sums
ORDER BY election_year, election_type, CASE list WHEN 'DPT' THEN 1 WHEN 'DPTb' THEN 2 ELSE 3 END, sex
