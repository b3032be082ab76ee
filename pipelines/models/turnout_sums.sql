-- Turnout by sex for the nation, each province and each electoral district, in percent and not rounded. The rates include only regencies whose rate_status is compared. The other regencies are counted by reason.
-- level: national, province or dapil.
-- dapil_id: Identifier of the electoral district. NULL where level is not dapil.
-- dapil_name: Name of the electoral district. NULL where level is not dapil.
-- province: Name of the province. NULL where level is not province.
-- users_per_dpt_and_dpk_pct: users_compared divided by voters_dpt_and_dpk_compared, in percent. This is turnout as the election commission (KPU) computed it for 2024.
-- users_per_dpt_pct: users_compared divided by voters_dpt_compared, in percent.
-- users_per_voters_pct: users_compared divided by voters_compared, in percent.
-- users_compared: People who voted, on all lists in the compared regencies. The numerator of the three rates. Unit: people.
-- voters_compared: Voters on all lists in the compared regencies. Unit: people.
-- voters_dpt_compared: Voters in the DPT in the compared regencies. Unit: people.
-- voters_dpt_and_dpk_compared: Voters in the DPT and the DPK in the compared regencies. Unit: people.
-- voters_compared_pct: voters_compared divided by voters_all, in percent: how much of the place the rates cover.
-- regencies: Number of regencies in either dataset: regencies_compared + regencies_missing + regencies_unknown + regencies_zero_denominator + regencies_contradicting. Unit: regencies.
-- regencies_compared: Regencies that the rates include. Unit: regencies.
-- regencies_missing: Regencies that are missing in one dataset. Unit: regencies.
-- regencies_unknown: Regencies with an unknown figure in either dataset. Unit: regencies.
-- regencies_zero_denominator: Regencies without men or without women in the DPT. Unit: regencies.
-- regencies_contradicting: Regencies whose figures fail a check of severity error. See the table violations. Unit: regencies.
-- users_per_dpt_and_dpk_pct_with_contradicting: users_per_dpt_and_dpk_pct, including the contradicting regencies.
-- users_per_dpt_pct_with_contradicting: users_per_dpt_pct, including the contradicting regencies.
-- users_per_voters_pct_with_contradicting: users_per_voters_pct, including the contradicting regencies.
-- users_with_contradicting: People who voted, on all lists in the compared and the contradicting regencies. The numerator of the three rates that end in _with_contradicting.
-- voters_with_contradicting: Voters on all lists in the compared and the contradicting regencies.
-- voters_dpt_with_contradicting: Voters in the DPT in the compared and the contradicting regencies.
-- voters_dpt_and_dpk_with_contradicting: Voters in the DPT and the DPK in the compared and the contradicting regencies.
-- users_all: People who voted, on all lists in every regency whose number is known. Unit: people.
-- voters_all: Voters on all lists in every regency whose number is known. Unit: people.
-- regencies_in_users: Number of regencies in voting_rights_users. Unit: regencies.
-- regencies_in_voters: Number of regencies in voters. Unit: regencies.
-- unknown_users: Number of regencies in voting_rights_users whose number of users on all lists is unknown.
-- unknown_voters: Number of regencies in voters whose number of voters on all lists is unknown.
WITH sums AS (
  SELECT
    CASE WHEN grouping(dapil_id) = 0 THEN 'dapil' WHEN grouping(province) = 0 THEN 'province' ELSE 'national' END AS level,
    election_year, election_type, dapil_id, dapil_name, province, sex,
    CAST(count(*) AS INTEGER) AS regencies,
    CAST(count(*) FILTER (WHERE rate_status = 'compared') AS INTEGER) AS regencies_compared,
    CAST(count(*) FILTER (WHERE rate_status = 'missing in a dataset') AS INTEGER) AS regencies_missing,
    CAST(count(*) FILTER (WHERE rate_status = 'unknown') AS INTEGER) AS regencies_unknown,
    CAST(count(*) FILTER (WHERE rate_status = 'zero denominator') AS INTEGER) AS regencies_zero_denominator,
    CAST(count(*) FILTER (WHERE rate_status = 'contradicting') AS INTEGER) AS regencies_contradicting,
    CAST(count(*) FILTER (WHERE in_users) AS INTEGER) AS regencies_in_users,
    CAST(count(*) FILTER (WHERE in_voters) AS INTEGER) AS regencies_in_voters,
    CAST(count(*) FILTER (WHERE in_users AND users_all IS NULL) AS INTEGER) AS unknown_users,
    CAST(count(*) FILTER (WHERE in_voters AND voters_all IS NULL) AS INTEGER) AS unknown_voters,
    CAST(sum(users_all) AS BIGINT) AS known_users,
    CAST(sum(voters_all) AS BIGINT) AS known_voters,
    CAST(sum(users_all) FILTER (WHERE rate_status = 'compared') AS BIGINT) AS users_compared,
    CAST(sum(voters_all) FILTER (WHERE rate_status = 'compared') AS BIGINT) AS voters_compared,
    CAST(sum(voters_dpt) FILTER (WHERE rate_status = 'compared') AS BIGINT) AS voters_dpt_compared,
    CAST(sum(voters_dpt_and_dpk) FILTER (WHERE rate_status = 'compared') AS BIGINT) AS voters_dpt_and_dpk_compared,
    CAST(sum(users_all) FILTER (WHERE rate_status IN ('compared', 'contradicting')) AS BIGINT) AS users_with_contradicting,
    CAST(sum(voters_all) FILTER (WHERE rate_status IN ('compared', 'contradicting')) AS BIGINT) AS voters_with_contradicting,
    CAST(sum(voters_dpt) FILTER (WHERE rate_status IN ('compared', 'contradicting')) AS BIGINT) AS voters_dpt_with_contradicting,
    CAST(sum(voters_dpt_and_dpk) FILTER (WHERE rate_status IN ('compared', 'contradicting')) AS BIGINT) AS voters_dpt_and_dpk_with_contradicting
  FROM turnout
  GROUP BY GROUPING SETS (
    (election_year, election_type, sex),
    (election_year, election_type, province, sex),
    (election_year, election_type, dapil_id, dapil_name, sex)
  )
)
SELECT
  level, election_year, election_type, dapil_id, dapil_name, province, sex,
  1e2 * users_compared / nullif(voters_dpt_and_dpk_compared, 0) AS users_per_dpt_and_dpk_pct,
  1e2 * users_compared / nullif(voters_dpt_compared, 0) AS users_per_dpt_pct,
  1e2 * users_compared / nullif(voters_compared, 0) AS users_per_voters_pct,
  regencies_compared, voters_dpt_and_dpk_compared, voters_dpt_compared, users_compared, voters_compared,
  regencies, regencies_missing, regencies_unknown, regencies_zero_denominator, regencies_contradicting,
  1e2 * users_with_contradicting / nullif(voters_dpt_and_dpk_with_contradicting, 0) AS users_per_dpt_and_dpk_pct_with_contradicting,
  1e2 * users_with_contradicting / nullif(voters_dpt_with_contradicting, 0) AS users_per_dpt_pct_with_contradicting,
  1e2 * users_with_contradicting / nullif(voters_with_contradicting, 0) AS users_per_voters_pct_with_contradicting,
  voters_dpt_and_dpk_with_contradicting, voters_dpt_with_contradicting, users_with_contradicting, voters_with_contradicting,
  known_users AS users_all, known_voters AS voters_all,
  1e2 * voters_compared / nullif(known_voters, 0) AS voters_compared_pct,
  regencies_in_users, regencies_in_voters, unknown_users, unknown_voters
FROM sums
ORDER BY level, election_year, election_type, dapil_id, dapil_name, province, sex
