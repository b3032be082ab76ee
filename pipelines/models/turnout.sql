-- Turnout per regency and sex: users of their voting right against voters, list by list and in all, in percent. NULL where a figure is unknown or the divisor is 0. A regency that stands in one dataset only has NULL in the other's columns.
-- sex: male, female or both.
-- users_all: Users of their voting right on all lists.
-- voters_all: Voters on all lists.
-- users_dpt: Users in the permanent list (DPT).
-- voters_dpt: Voters in the permanent list (DPT).
-- users_dptb: Users in the supplementary list (DPTb).
-- voters_dptb: Voters in the supplementary list (DPTb).
-- users_dpk: Users in the additional list (DPK).
-- voters_dpk: Voters in the additional list (DPK).
-- dpt_users_per_dpt_pct: Users in the DPT per voters in the DPT, in percent.
-- dptb_users_per_dptb_pct: Users in the DPTb per voters in the DPTb, in percent.
-- dpk_users_per_dpk_pct: Users in the DPK per voters in the DPK, in percent.
-- users_per_dpt_pct: All users per voters in the DPT, in percent.
-- users_per_dpt_and_dpk_pct: All users per voters in the DPT and the DPK, in percent.
-- users_per_voters_pct: All users per voters on all lists, in percent.
-- is_consistent: True where neither row breaks a check of severity error; false where the regency stands in one dataset only.
-- is_complete: True where all the figures are known that turnout on all lists is reckoned from, for either sex and for both; only such regencies are in the sums of districts, provinces and the nation.
WITH long AS (
  SELECT
    election_year, election_type, dapil_id, coalesce(v.dapil_name, u.dapil_name) AS dapil_name, province, regency,
    unnest([
      {sex: 'male', users: u.male_total, voters: v.male_total,
       users_dpt: u.dpt_male, users_dptb: u.dptb_male, users_dpk: u.dpk_male,
       voters_dpt: v.dpt_male, voters_dptb: v.dptb_male, voters_dpk: v.dpk_male},
      {sex: 'female', users: u.female_total, voters: v.female_total,
       users_dpt: u.dpt_female, users_dptb: u.dptb_female, users_dpk: u.dpk_female,
       voters_dpt: v.dpt_female, voters_dptb: v.dptb_female, voters_dpk: v.dpk_female},
      {sex: 'both', users: u.grand_total, voters: v.grand_total,
       users_dpt: u.dpt_total, users_dptb: u.dptb_total, users_dpk: u.dpk_total,
       voters_dpt: v.dpt_total, voters_dptb: v.dptb_total, voters_dpk: v.dpk_total}
    ]) AS figures,
    coalesce(v.is_consistent AND u.is_consistent, false) AS is_consistent,
    u.male_total IS NOT NULL AND u.female_total IS NOT NULL AND u.grand_total IS NOT NULL
      AND v.male_total IS NOT NULL AND v.female_total IS NOT NULL AND v.grand_total IS NOT NULL
      AND v.dpt_male IS NOT NULL AND v.dpt_female IS NOT NULL AND v.dpt_total IS NOT NULL
      AND v.dpk_male IS NOT NULL AND v.dpk_female IS NOT NULL AND v.dpk_total IS NOT NULL AS is_complete
  FROM voters v
  FULL JOIN voting_rights_users u USING (election_year, election_type, dapil_id, province, regency)
)
SELECT
  election_year, election_type, dapil_id, dapil_name, province, regency,
  figures.sex AS sex,
  figures.users AS users_all,
  figures.voters AS voters_all,
  figures.users_dpt AS users_dpt,
  figures.voters_dpt AS voters_dpt,
  figures.users_dptb AS users_dptb,
  figures.voters_dptb AS voters_dptb,
  figures.users_dpk AS users_dpk,
  figures.voters_dpk AS voters_dpk,
  round(100.0 * figures.users_dpt / nullif(figures.voters_dpt, 0), 2) AS dpt_users_per_dpt_pct,
  round(100.0 * figures.users_dptb / nullif(figures.voters_dptb, 0), 2) AS dptb_users_per_dptb_pct,
  round(100.0 * figures.users_dpk / nullif(figures.voters_dpk, 0), 2) AS dpk_users_per_dpk_pct,
  round(100.0 * figures.users / nullif(figures.voters_dpt, 0), 2) AS users_per_dpt_pct,
  round(100.0 * figures.users / nullif(figures.voters_dpt::BIGINT + figures.voters_dpk, 0), 2) AS users_per_dpt_and_dpk_pct,
  round(100.0 * figures.users / nullif(figures.voters, 0), 2) AS users_per_voters_pct,
  is_consistent,
  is_complete
FROM long
