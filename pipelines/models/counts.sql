-- Every count in long form: one row per dataset, regency, list ('DPT', 'DPTb', 'DPK', 'all') and sex ('male', 'female', 'both'), with the number of people.
-- dataset: voters or voting_rights_users.
-- list: DPT, DPTb, DPK or all.
-- people: Number of people; NULL where the source gives none.
WITH datasets AS (
  SELECT 'voters' AS dataset, * FROM voters
  UNION ALL BY NAME
  SELECT 'voting_rights_users' AS dataset, * FROM voting_rights_users
),
long AS (
  SELECT
    dataset, election_year, election_type, dapil_id, dapil_name, province, regency,
    unnest([
      {list: 'DPT', sex: 'male', people: dpt_male}, {list: 'DPT', sex: 'female', people: dpt_female}, {list: 'DPT', sex: 'both', people: dpt_total},
      {list: 'DPTb', sex: 'male', people: dptb_male}, {list: 'DPTb', sex: 'female', people: dptb_female}, {list: 'DPTb', sex: 'both', people: dptb_total},
      {list: 'DPK', sex: 'male', people: dpk_male}, {list: 'DPK', sex: 'female', people: dpk_female}, {list: 'DPK', sex: 'both', people: dpk_total},
      {list: 'all', sex: 'male', people: male_total}, {list: 'all', sex: 'female', people: female_total}, {list: 'all', sex: 'both', people: grand_total}
    ]) AS cell
  FROM datasets
)
SELECT
  dataset, election_year, election_type, dapil_id, dapil_name, province, regency,
  cell.list AS list, cell.sex AS sex, cell.people AS people
FROM long
