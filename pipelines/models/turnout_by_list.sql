-- National rates by list and sex: voting-rights users divided by voters, in percent and not rounded. The rates include only regencies whose rate_status is compared and that have voters on the list.
-- list: DPT, DPTb or DPK.
-- users_per_voters_pct: users_compared divided by voters_compared, in percent.
-- users_compared: Voting-rights users on the list in the compared regencies. Unit: people.
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
    election_year, election_type, sex, rate_status,
    unnest([
      {list: 'DPT', users: users_dpt, voters: voters_dpt},
      {list: 'DPTb', users: users_dptb, voters: voters_dptb},
      {list: 'DPK', users: users_dpk, voters: voters_dpk}
    ], recursive := true)
  FROM turnout
),
figures AS (
  SELECT * REPLACE (CASE WHEN rate_status IN ('compared', 'contradicting') AND voters = 0 THEN 'zero denominator' ELSE rate_status END AS rate_status)
  FROM lists
),
sums AS (
  SELECT
    election_year, election_type, list, sex,
    count(*)::INTEGER AS regencies,
    (count(*) FILTER (rate_status = 'compared'))::INTEGER AS regencies_compared,
    (count(*) FILTER (rate_status = 'missing in a dataset'))::INTEGER AS regencies_missing,
    (count(*) FILTER (rate_status = 'unknown'))::INTEGER AS regencies_unknown,
    (count(*) FILTER (rate_status = 'zero denominator'))::INTEGER AS regencies_zero_denominator,
    (count(*) FILTER (rate_status = 'contradicting'))::INTEGER AS regencies_contradicting,
    (sum(COLUMNS('^(users|voters)$')) FILTER (rate_status = 'compared'))::BIGINT AS '\0_compared',
    (sum(COLUMNS('^(users|voters)$')) FILTER (rate_status IN ('compared', 'contradicting')))::BIGINT AS '\0_with_contradicting'
  FROM figures
  GROUP BY ALL
)
SELECT
  election_year, election_type, list, sex,
  100.0 * users_compared / nullif(voters_compared, 0) AS users_per_voters_pct,
  users_compared,
  voters_compared,
  COLUMNS('^regencies'),
  100.0 * users_with_contradicting / nullif(voters_with_contradicting, 0) AS users_per_voters_pct_with_contradicting,
  users_with_contradicting,
  voters_with_contradicting
FROM sums
ORDER BY election_year, election_type, list_position(['DPT', 'DPTb', 'DPK'], list), sex
