-- Turnout by regency and sex: people who voted divided by voters, for each list and for all lists, in percent and not rounded. A rate is NULL unless rate_status is compared, so that figures which contradict each other don't rank first. users_per_dpt_and_dpk_pct_raw ignores the status.
-- sex: male, female or both.
-- users_all: People who voted, on all lists. Unit: people.
-- voters_all: Voters on all lists. Unit: people.
-- voters_dpt_and_dpk: Voters in the DPT and the DPK. Unit: people.
-- users_dpt: People who voted, in the permanent list (DPT). Unit: people.
-- voters_dpt: Voters in the permanent list (DPT). Unit: people.
-- users_dptb: People who voted, in the supplementary list (DPTb). Unit: people.
-- voters_dptb: Voters in the supplementary list (DPTb). Unit: people.
-- users_dpk: People who voted, in the additional list (DPK). Unit: people.
-- voters_dpk: Voters in the additional list (DPK). Unit: people.
-- users_per_dpt_and_dpk_pct: users_all divided by voters_dpt_and_dpk, in percent.
-- users_per_dpt_and_dpk_pct_raw: The same for every regency with known figures and a denominator above 0, also if its figures contradict each other.
-- users_per_dpt_pct: users_all divided by voters_dpt, in percent.
-- users_per_voters_pct: users_all divided by voters_all, in percent.
-- dpt_users_per_dpt_pct: users_dpt divided by voters_dpt, in percent.
-- dptb_users_per_dptb_pct: users_dptb divided by voters_dptb, in percent.
-- dpk_users_per_dpk_pct: users_dpk divided by voters_dpk, in percent.
-- is_consistent: True if the rows in both datasets pass every check of severity error. False if the regency is missing in a dataset.
-- primary key: election_year, election_type, dapil_id, province, regency, sex
-- order: kept
WITH rows AS (
  SELECT election_year, election_type, dapil_id, dapil_name, province, regency,
    unnest([
      {sex: 'both', users_all: users_grand_total, voters_all: voters_grand_total, users_dpt: users_dpt_total, voters_dpt: voters_dpt_total, users_dptb: users_dptb_total, voters_dptb: voters_dptb_total, users_dpk: users_dpk_total, voters_dpk: voters_dpk_total},
      {sex: 'female', users_all: users_female_total, voters_all: voters_female_total, users_dpt: users_dpt_female, voters_dpt: voters_dpt_female, users_dptb: users_dptb_female, voters_dptb: voters_dptb_female, users_dpk: users_dpk_female, voters_dpk: voters_dpk_female},
      {sex: 'male', users_all: users_male_total, voters_all: voters_male_total, users_dpt: users_dpt_male, voters_dpt: voters_dpt_male, users_dptb: users_dptb_male, voters_dptb: voters_dptb_male, users_dpk: users_dpk_male, voters_dpk: voters_dpk_male}
    ]) AS cell,
    coalesce(voters_is_consistent AND users_is_consistent, false) AS is_consistent,
    rate_status, in_voters, in_users
  FROM regency_figures
),
by_sex AS (
  SELECT election_year, election_type, dapil_id, dapil_name, province, regency, unnest(cell), is_consistent, rate_status, in_voters, in_users FROM rows
),
figures AS (
  SELECT *, CAST(voters_dpt AS BIGINT) + voters_dpk AS voters_dpt_and_dpk FROM by_sex
)
SELECT
  election_year, election_type, dapil_id, dapil_name, province, regency, sex,
  users_all,
  voters_dpt_and_dpk,
  CASE rate_status WHEN 'compared' THEN 1e2 * users_all / nullif(voters_dpt_and_dpk, 0) END AS users_per_dpt_and_dpk_pct,
  1e2 * users_all / nullif(voters_dpt_and_dpk, 0) AS users_per_dpt_and_dpk_pct_raw,
  rate_status,
  voters_all,
  CASE rate_status WHEN 'compared' THEN 1e2 * users_all / nullif(voters_all, 0) END AS users_per_voters_pct,
  users_dpt,
  voters_dpt,
  CASE rate_status WHEN 'compared' THEN 1e2 * users_all / nullif(voters_dpt, 0) END AS users_per_dpt_pct,
  CASE rate_status WHEN 'compared' THEN 1e2 * users_dpt / nullif(voters_dpt, 0) END AS dpt_users_per_dpt_pct,
  users_dptb,
  voters_dptb,
  CASE rate_status WHEN 'compared' THEN 1e2 * users_dptb / nullif(voters_dptb, 0) END AS dptb_users_per_dptb_pct,
  users_dpk,
  voters_dpk,
  CASE rate_status WHEN 'compared' THEN 1e2 * users_dpk / nullif(voters_dpk, 0) END AS dpk_users_per_dpk_pct,
  is_consistent,
  in_voters,
  in_users
FROM figures
