-- Turnout per regency and sex: users of their voting right against voters, list by list and in all, in percent. NULL where a figure is unknown or the divisor is 0.
WITH long AS (
  SELECT
    v.election_year, v.election_type, v.dapil_id, v.dapil_name, v.province, v.regency,
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
    v.is_consistent AND u.is_consistent AS is_consistent
  FROM voters v
  JOIN voting_rights_users u USING (election_year, election_type, dapil_id, province, regency)
)
SELECT
  election_year, election_type, dapil_id, dapil_name, province, regency,
  figures.sex AS sex,
  figures.users AS users,
  figures.voters AS voters,
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
  is_consistent
FROM long
