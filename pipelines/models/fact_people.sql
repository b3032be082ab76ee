-- Counts of voters and users by election, regency, list and sex, without subtotals. You can sum voters or users over any rows of one election. If the source has the total of a list, but not its men or its women, the rest is in a row with the sex unknown. The sums can still differ from the source's own totals, if its figures contradict each other. `reconciliation` lists each difference.
-- election: Year and type of the election.
-- regency_key: Key of the regency in dim_regency.
-- dapil_key: Key of the electoral district in dim_dapil.
-- province_key: Key of the province in dim_province.
-- list: DPT, DPTb or DPK.
-- sex: male, female, or unknown for people of a list's total whose sex the source doesn't give.
-- voters: Number of voters. NULL if it is unknown, or if the regency is missing in voters.
-- users: Number of people who used their voting right. NULL if it is unknown, or if the regency is missing in voting_rights_users.
-- unknown_voters: 1 if this number of voters is unknown, also because the regency is missing in voters, otherwise 0.
-- unknown_users: 1 if this number of users is unknown, also because the regency is missing in voting_rights_users, otherwise 0.
-- primary key: regency_key, list, sex
-- foreign key: regency_key -> dim_regency.regency_key
-- foreign key: dapil_key -> dim_dapil.dapil_key
-- foreign key: province_key -> dim_province.province_key
-- order: kept
WITH keyed AS (
  -- The keys are computed here, once per regency. Beside the unnest, they would be computed for each of its rows.
  SELECT
    concat_ws(' ', election_year, election_type) AS election,
    (md5_number_lower(concat_ws(' / ', election_year, election_type, dapil_id, province, regency)) >> 15)::BIGINT AS regency_key,
    (md5_number_lower(concat_ws(' / ', election_year, election_type, dapil_id)) >> 15)::BIGINT AS dapil_key,
    (md5_number_lower(concat_ws(' / ', election_year, election_type, province)) >> 15)::BIGINT AS province_key,
    [
      {list: 'DPT', sex: 'male', voters: voters_dpt_male, users: users_dpt_male},
      {list: 'DPT', sex: 'female', voters: voters_dpt_female, users: users_dpt_female},
      {list: 'DPT', sex: 'unknown', voters: CASE WHEN voters_dpt_male IS NULL OR voters_dpt_female IS NULL THEN nullif(greatest(voters_dpt_total - coalesce(voters_dpt_male, 0) - coalesce(voters_dpt_female, 0), 0), 0) END, users: CASE WHEN users_dpt_male IS NULL OR users_dpt_female IS NULL THEN nullif(greatest(users_dpt_total - coalesce(users_dpt_male, 0) - coalesce(users_dpt_female, 0), 0), 0) END},
      {list: 'DPTb', sex: 'male', voters: voters_dptb_male, users: users_dptb_male},
      {list: 'DPTb', sex: 'female', voters: voters_dptb_female, users: users_dptb_female},
      {list: 'DPTb', sex: 'unknown', voters: CASE WHEN voters_dptb_male IS NULL OR voters_dptb_female IS NULL THEN nullif(greatest(voters_dptb_total - coalesce(voters_dptb_male, 0) - coalesce(voters_dptb_female, 0), 0), 0) END, users: CASE WHEN users_dptb_male IS NULL OR users_dptb_female IS NULL THEN nullif(greatest(users_dptb_total - coalesce(users_dptb_male, 0) - coalesce(users_dptb_female, 0), 0), 0) END},
      {list: 'DPK', sex: 'male', voters: voters_dpk_male, users: users_dpk_male},
      {list: 'DPK', sex: 'female', voters: voters_dpk_female, users: users_dpk_female},
      {list: 'DPK', sex: 'unknown', voters: CASE WHEN voters_dpk_male IS NULL OR voters_dpk_female IS NULL THEN nullif(greatest(voters_dpk_total - coalesce(voters_dpk_male, 0) - coalesce(voters_dpk_female, 0), 0), 0) END, users: CASE WHEN users_dpk_male IS NULL OR users_dpk_female IS NULL THEN nullif(greatest(users_dpk_total - coalesce(users_dpk_male, 0) - coalesce(users_dpk_female, 0), 0), 0) END}
    ] AS cells
  FROM regency_figures
),
cells AS (
  SELECT election, regency_key, dapil_key, province_key, unnest(cells) AS cell
  FROM keyed
)
SELECT
  election, regency_key, dapil_key, province_key, cell.list AS list, cell.sex AS sex,
  cell.voters AS voters, cell.users AS users,
  (cell.voters IS NULL AND cell.sex <> 'unknown')::INTEGER AS unknown_voters,
  (cell.users IS NULL AND cell.sex <> 'unknown')::INTEGER AS unknown_users
FROM cells
WHERE cell.sex <> 'unknown' OR cell.voters IS NOT NULL OR cell.users IS NOT NULL
