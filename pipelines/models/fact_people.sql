-- Every count that is no sum of others: men and women by dataset, regency and list, so that any SUM is right. It may differ from the source's own totals where those contradict their parts; see `data_quality`.
-- dataset: voters or voting_rights_users.
-- election: Year and type of the election.
-- regency_key: The regency, as in dim_regency.
-- list: DPT, DPTb or DPK.
-- sex: male or female.
-- people: Number of people; NULL where the source gives none.
WITH datasets AS (
  SELECT 'voters' AS dataset, * FROM voters
  UNION ALL BY NAME
  SELECT 'voting_rights_users' AS dataset, * FROM voting_rights_users
),
cells AS (
  SELECT
    dataset,
    concat_ws(' ', election_year, election_type) AS election,
    concat_ws(' / ', election_year, election_type, dapil_id, province, regency) AS regency_key,
    unnest([
      {list: 'DPT', sex: 'male', people: dpt_male}, {list: 'DPT', sex: 'female', people: dpt_female},
      {list: 'DPTb', sex: 'male', people: dptb_male}, {list: 'DPTb', sex: 'female', people: dptb_female},
      {list: 'DPK', sex: 'male', people: dpk_male}, {list: 'DPK', sex: 'female', people: dpk_female}
    ]) AS cell
  FROM datasets
)
SELECT dataset, election, regency_key, cell.list AS list, cell.sex AS sex, cell.people AS people
FROM cells
