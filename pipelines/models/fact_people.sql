-- Men and women by election, regency and list, without subtotals: voters and users may each be summed over any rows. Their sums may differ from the source's own totals; `reconciliation` lists each difference.
-- election: Year and type of the election.
-- regency_key: The regency, as in dim_regency.
-- dapil_key: Its electoral district, as in dim_dapil.
-- province_key: Its province, as in dim_province.
-- list: DPT, DPTb or DPK.
-- sex: male or female.
-- voters: Number of voters; NULL where it is unknown or voters lacks the regency.
-- users: Number of people who used their voting right; NULL where it is unknown or voting_rights_users lacks the regency.
-- unknown_voters: 1 where voters has the regency but not this number, otherwise 0.
-- unknown_users: 1 where voting_rights_users has the regency but not this number, otherwise 0.
WITH cells AS (
  SELECT
    concat_ws(' ', election_year, election_type) AS election,
    (md5_number_lower(concat_ws(' / ', election_year, election_type, dapil_id, province, regency)) >> 15)::BIGINT AS regency_key,
    (md5_number_lower(concat_ws(' / ', election_year, election_type, dapil_id)) >> 15)::BIGINT AS dapil_key,
    (md5_number_lower(concat_ws(' / ', election_year, election_type, province)) >> 15)::BIGINT AS province_key,
    in_voters,
    in_users,
    unnest([
      {list: 'DPT', sex: 'male', voters: voters_dpt_male, users: users_dpt_male},
      {list: 'DPT', sex: 'female', voters: voters_dpt_female, users: users_dpt_female},
      {list: 'DPTb', sex: 'male', voters: voters_dptb_male, users: users_dptb_male},
      {list: 'DPTb', sex: 'female', voters: voters_dptb_female, users: users_dptb_female},
      {list: 'DPK', sex: 'male', voters: voters_dpk_male, users: users_dpk_male},
      {list: 'DPK', sex: 'female', voters: voters_dpk_female, users: users_dpk_female}
    ]) AS cell
  FROM regency_figures
)
SELECT
  election, regency_key, dapil_key, province_key, cell.list AS list, cell.sex AS sex,
  cell.voters AS voters, cell.users AS users,
  (in_voters AND cell.voters IS NULL)::INTEGER AS unknown_voters,
  (in_users AND cell.users IS NULL)::INTEGER AS unknown_users
FROM cells
