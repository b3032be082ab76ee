-- Transforms run 20261120T030000Z-400000 of polling-stations to the branch run_20261120T030000Z_400000 of the tables in lake.rekap.
-- All models and checks are part of it.
-- To check and publish the branch, run: rekap lake release 20261120T030000Z-400000
ALTER TABLE `lake`.`rekap`.`ledger` DROP BRANCH IF EXISTS `run_20261120T030000Z_400000`;

SET spark.sql.optimizer.excludedRules = org.apache.spark.sql.catalyst.optimizer.CollapseProject;

CREATE OR REPLACE TABLE `lake`.`raw`.`run_20261120T030000Z_400000_results` USING iceberg AS 
WITH landed AS (
  SELECT position, partition_value, request, record, fields, from_json(fields, 'map<string,string>') AS fields_of
  FROM `lake`.`raw`.`records` WHERE run_id = '20261120T030000Z-400000' AND dataset = 'results'
),
typed AS (
  SELECT *, left(fields_of['region'], 1) AS `region__written`,
  substr(fields_of['region'], 2) AS `region__text`,
  CASE WHEN `region__written` = 't' AND `region__text` <> '' THEN `region__text` END AS `region`,
  CASE WHEN `region__written` IS NULL THEN 'missing' WHEN `region__written` = 'z' THEN 'null'
    WHEN `region__written` = 't' AND `region__text` = '' THEN 'empty' WHEN `region` IS NULL THEN 'malformed' END AS `region__reason`,
  CASE WHEN `region__reason` IN ('empty', 'malformed') THEN `region__text` END AS `region__raw`,
  left(fields_of['station'], 1) AS `station__written`,
  substr(fields_of['station'], 2) AS `station__text`,
  CASE WHEN `station__written` IN ('t', 'n') AND `station__text` RLIKE '^-?[0-9]{1,40}\\z' AND length(concat('0', trim(LEADING '0' FROM replace(`station__text`, '-', '')))) <= 21
    THEN try_cast(concat(CASE WHEN `station__text` LIKE '-%' THEN '-' ELSE '' END, concat('0', trim(LEADING '0' FROM replace(`station__text`, '-', '')))) AS DECIMAL(38,0)) END AS `station__number`,
  CASE WHEN `station__number` BETWEEN -9223372036854775808 AND 9223372036854775807 THEN CAST(`station__number` AS BIGINT) END AS `station`,
  CASE WHEN `station__written` IS NULL THEN 'missing' WHEN `station__written` = 'z' THEN 'null'
    WHEN `station__written` = 't' AND `station__text` = '' THEN 'empty' WHEN `station` IS NULL THEN 'malformed' END AS `station__reason`,
  CASE WHEN `station__reason` IN ('empty', 'malformed') THEN `station__text` END AS `station__raw`,
  left(fields_of['building'], 1) AS `building__written`,
  substr(fields_of['building'], 2) AS `building__text`,
  CASE WHEN `building__written` = 't' AND `building__text` <> '' THEN `building__text` END AS `building`,
  CASE WHEN `building__written` IS NULL THEN 'missing' WHEN `building__written` = 'z' THEN 'null'
    WHEN `building__written` = 't' AND `building__text` = '' THEN 'empty' WHEN `building` IS NULL THEN 'malformed' END AS `building__reason`,
  CASE WHEN `building__reason` IN ('empty', 'malformed') THEN `building__text` END AS `building__raw`,
  left(fields_of['registered'], 1) AS `registered__written`,
  substr(fields_of['registered'], 2) AS `registered__text`,
  CASE WHEN `registered__written` IN ('t', 'n') AND `registered__text` RLIKE '^[0-9]+\\z' AND length(concat('0', trim(LEADING '0' FROM replace(`registered__text`, '-', '')))) <= 21
    THEN try_cast(concat(CASE WHEN `registered__text` LIKE '-%' THEN '-' ELSE '' END, concat('0', trim(LEADING '0' FROM replace(`registered__text`, '-', '')))) AS DECIMAL(38,0)) END AS `registered__number`,
  CASE WHEN `registered__number` BETWEEN 0 AND 2147483647 THEN CAST(`registered__number` AS INT) END AS `registered`,
  CASE WHEN `registered__written` IS NULL THEN 'missing' WHEN `registered__written` = 'z' THEN 'null'
    WHEN `registered__written` = 't' AND `registered__text` = '' THEN 'empty' WHEN `registered` IS NULL THEN 'malformed' END AS `registered__reason`,
  CASE WHEN `registered__reason` IN ('empty', 'malformed') THEN `registered__text` END AS `registered__raw`,
  left(fields_of['party_a'], 1) AS `party_a__written`,
  substr(fields_of['party_a'], 2) AS `party_a__text`,
  CASE WHEN `party_a__written` IN ('t', 'n') AND `party_a__text` RLIKE '^[0-9]+\\z' AND length(concat('0', trim(LEADING '0' FROM replace(`party_a__text`, '-', '')))) <= 21
    THEN try_cast(concat(CASE WHEN `party_a__text` LIKE '-%' THEN '-' ELSE '' END, concat('0', trim(LEADING '0' FROM replace(`party_a__text`, '-', '')))) AS DECIMAL(38,0)) END AS `party_a__number`,
  CASE WHEN `party_a__number` BETWEEN 0 AND 2147483647 THEN CAST(`party_a__number` AS INT) END AS `party_a`,
  CASE WHEN `party_a__written` IS NULL THEN 'missing' WHEN `party_a__written` = 'z' THEN 'null'
    WHEN `party_a__written` = 't' AND `party_a__text` = '' THEN 'empty' WHEN `party_a` IS NULL THEN 'malformed' END AS `party_a__reason`,
  CASE WHEN `party_a__reason` IN ('empty', 'malformed') THEN `party_a__text` END AS `party_a__raw`,
  left(fields_of['party_b'], 1) AS `party_b__written`,
  substr(fields_of['party_b'], 2) AS `party_b__text`,
  CASE WHEN `party_b__written` IN ('t', 'n') AND `party_b__text` RLIKE '^[0-9]+\\z' AND length(concat('0', trim(LEADING '0' FROM replace(`party_b__text`, '-', '')))) <= 21
    THEN try_cast(concat(CASE WHEN `party_b__text` LIKE '-%' THEN '-' ELSE '' END, concat('0', trim(LEADING '0' FROM replace(`party_b__text`, '-', '')))) AS DECIMAL(38,0)) END AS `party_b__number`,
  CASE WHEN `party_b__number` BETWEEN 0 AND 2147483647 THEN CAST(`party_b__number` AS INT) END AS `party_b`,
  CASE WHEN `party_b__written` IS NULL THEN 'missing' WHEN `party_b__written` = 'z' THEN 'null'
    WHEN `party_b__written` = 't' AND `party_b__text` = '' THEN 'empty' WHEN `party_b` IS NULL THEN 'malformed' END AS `party_b__reason`,
  CASE WHEN `party_b__reason` IN ('empty', 'malformed') THEN `party_b__text` END AS `party_b__raw`,
  left(fields_of['valid'], 1) AS `valid__written`,
  substr(fields_of['valid'], 2) AS `valid__text`,
  CASE WHEN `valid__written` IN ('t', 'n') AND `valid__text` RLIKE '^[0-9]+\\z' AND length(concat('0', trim(LEADING '0' FROM replace(`valid__text`, '-', '')))) <= 21
    THEN try_cast(concat(CASE WHEN `valid__text` LIKE '-%' THEN '-' ELSE '' END, concat('0', trim(LEADING '0' FROM replace(`valid__text`, '-', '')))) AS DECIMAL(38,0)) END AS `valid__number`,
  CASE WHEN `valid__number` BETWEEN 0 AND 2147483647 THEN CAST(`valid__number` AS INT) END AS `valid`,
  CASE WHEN `valid__written` IS NULL THEN 'missing' WHEN `valid__written` = 'z' THEN 'null'
    WHEN `valid__written` = 't' AND `valid__text` = '' THEN 'empty' WHEN `valid` IS NULL THEN 'malformed' END AS `valid__reason`,
  CASE WHEN `valid__reason` IN ('empty', 'malformed') THEN `valid__text` END AS `valid__raw`,
  left(fields_of['invalid'], 1) AS `invalid__written`,
  substr(fields_of['invalid'], 2) AS `invalid__text`,
  CASE WHEN `invalid__written` IN ('t', 'n') AND `invalid__text` RLIKE '^[0-9]+\\z' AND length(concat('0', trim(LEADING '0' FROM replace(`invalid__text`, '-', '')))) <= 21
    THEN try_cast(concat(CASE WHEN `invalid__text` LIKE '-%' THEN '-' ELSE '' END, concat('0', trim(LEADING '0' FROM replace(`invalid__text`, '-', '')))) AS DECIMAL(38,0)) END AS `invalid__number`,
  CASE WHEN `invalid__number` BETWEEN 0 AND 2147483647 THEN CAST(`invalid__number` AS INT) END AS `invalid`,
  CASE WHEN `invalid__written` IS NULL THEN 'missing' WHEN `invalid__written` = 'z' THEN 'null'
    WHEN `invalid__written` = 't' AND `invalid__text` = '' THEN 'empty' WHEN `invalid` IS NULL THEN 'malformed' END AS `invalid__reason`,
  CASE WHEN `invalid__reason` IN ('empty', 'malformed') THEN `invalid__text` END AS `invalid__raw`,
  left(fields_of['ballots'], 1) AS `ballots__written`,
  substr(fields_of['ballots'], 2) AS `ballots__text`,
  CASE WHEN `ballots__written` IN ('t', 'n') AND `ballots__text` RLIKE '^[0-9]+\\z' AND length(concat('0', trim(LEADING '0' FROM replace(`ballots__text`, '-', '')))) <= 21
    THEN try_cast(concat(CASE WHEN `ballots__text` LIKE '-%' THEN '-' ELSE '' END, concat('0', trim(LEADING '0' FROM replace(`ballots__text`, '-', '')))) AS DECIMAL(38,0)) END AS `ballots__number`,
  CASE WHEN `ballots__number` BETWEEN 0 AND 2147483647 THEN CAST(`ballots__number` AS INT) END AS `ballots`,
  CASE WHEN `ballots__written` IS NULL THEN 'missing' WHEN `ballots__written` = 'z' THEN 'null'
    WHEN `ballots__written` = 't' AND `ballots__text` = '' THEN 'empty' WHEN `ballots` IS NULL THEN 'malformed' END AS `ballots__reason`,
  CASE WHEN `ballots__reason` IN ('empty', 'malformed') THEN `ballots__text` END AS `ballots__raw`
  FROM landed
),
named AS (
  SELECT *, CASE WHEN fields IS NULL THEN 'not an object' WHEN `region__reason` = 'missing' THEN 'region is missing' WHEN `region__reason` = 'null' THEN 'region is null' WHEN `region__reason` = 'empty' THEN 'region is empty' WHEN `region__reason` = 'malformed' THEN 'region is not text' WHEN `station__reason` = 'missing' THEN 'station is missing' WHEN `station__reason` = 'null' THEN 'station is null' WHEN `station__reason` = 'empty' THEN 'station is empty' WHEN `station__reason` = 'malformed' THEN 'station is not a whole number in digits, or is not between -9223372036854775808 and 9223372036854775807' END AS problem
  FROM typed
),
counted AS (
  SELECT *,
    row_number() OVER (PARTITION BY partition_value, problem IS NULL, CASE WHEN problem IS NULL THEN fields ELSE record END ORDER BY position) AS copy,
    max(partition_value IS NOT NULL) OVER (PARTITION BY problem IS NULL, CASE WHEN problem IS NULL THEN fields ELSE record END) AS is_in_partition
  FROM named
),
sorted AS (
  SELECT *, copy > 1 OR (problem IS NOT NULL AND partition_value IS NULL AND is_in_partition) AS is_duplicate
  FROM counted
),
ranked AS (
  SELECT *, CASE WHEN problem IS NULL AND NOT is_duplicate THEN
    row_number() OVER (PARTITION BY partition_value, problem IS NULL, is_duplicate, `region`, `station` ORDER BY position) END AS key_rank
  FROM sorted
)
SELECT `region`, `region__reason`, `region__raw`, `station`, `station__reason`, `station__raw`, `building`, `building__reason`, `building__raw`, `registered`, `registered__reason`, `registered__raw`, `party_a`, `party_a__reason`, `party_a__raw`, `party_b`, `party_b__reason`, `party_b__raw`, `valid`, `valid__reason`, `valid__raw`, `invalid`, `invalid__reason`, `invalid__raw`, `ballots`, `ballots__reason`, `ballots__raw`, problem, is_duplicate, key_rank,
  CASE WHEN NOT is_duplicate AND coalesce(key_rank > 1, true) THEN struct(record, partition_value, request) END AS quarantined
FROM ranked;

RESET spark.sql.optimizer.excludedRules;

CREATE OR REPLACE TEMPORARY VIEW `results__judged` AS SELECT * FROM `lake`.`raw`.`run_20261120T030000Z_400000_results`;

CREATE OR REPLACE TEMPORARY VIEW `results__rows` AS SELECT `region`, `station`, `building`, `registered`, `party_a`, `party_b`, `valid`, `invalid`, `ballots` FROM `results__judged` WHERE key_rank = 1;

ALTER TABLE `lake`.`rekap`.`violations` DROP BRANCH IF EXISTS `run_20261120T030000Z_400000`;

ALTER TABLE `lake`.`rekap`.`violations` CREATE BRANCH `run_20261120T030000Z_400000`;

INSERT OVERWRITE `lake`.`rekap`.`violations`.`branch_run_20261120T030000Z_400000` (`dataset`, `region`, `station`, `check_name`, `severity`, `column_name`, `raw_value`, `expected`, `actual`, `message`, `first_snapshot`, `since`) SELECT CAST('results' AS STRING) AS `dataset`, CAST(`region` AS STRING) AS `region`, CAST(`station` AS BIGINT) AS `station`, CAST(v.check_name AS STRING) AS `check_name`, CAST(v.severity AS STRING) AS `severity`, CAST(v.column_name AS STRING) AS `column_name`, CAST(v.raw_value AS STRING) AS `raw_value`, CAST(v.expected AS STRING) AS `expected`, CAST(v.actual AS STRING) AS `actual`, CAST(v.message AS STRING) AS `message`, CAST(NULL AS STRING) AS `first_snapshot`, CAST(NULL AS TIMESTAMP_NTZ) AS `since` FROM (SELECT *, explode(filter(array(IF(`building__reason` = 'malformed', named_struct('check_name', CAST(`building__reason` AS STRING), 'severity', CAST('error' AS STRING), 'column_name', CAST('building' AS STRING), 'raw_value', CAST(`building__raw` AS STRING), 'expected', CAST(NULL AS STRING), 'actual', CAST(NULL AS STRING), 'message', CAST(CASE `building__reason` WHEN 'missing' THEN concat('building', ' (', 'building', ') is missing') WHEN 'null' THEN concat('building', ' (', 'building', ') is null') WHEN 'empty' THEN concat('building', ' (', 'building', ') is empty') WHEN 'malformed' THEN concat('building', ' (', 'building', ') is ', regexp_extract(to_json(struct(`building__raw` AS a)), '^..a.:(.*).\\z', 1), ', which ', CASE WHEN `building__raw` RLIKE '^-[0-9]+\\z' THEN 'is not text'
    WHEN `building__raw` RLIKE '^[0-9]+\\z' THEN 'is not text' ELSE 'is not text' END) END AS STRING)), NULL), IF(`registered__reason` IS NOT NULL, named_struct('check_name', CAST(`registered__reason` AS STRING), 'severity', CAST('error' AS STRING), 'column_name', CAST('registered' AS STRING), 'raw_value', CAST(`registered__raw` AS STRING), 'expected', CAST(NULL AS STRING), 'actual', CAST(NULL AS STRING), 'message', CAST(CASE `registered__reason` WHEN 'missing' THEN concat('registered', ' (', 'registered', ') is missing') WHEN 'null' THEN concat('registered', ' (', 'registered', ') is null') WHEN 'empty' THEN concat('registered', ' (', 'registered', ') is empty') WHEN 'malformed' THEN concat('registered', ' (', 'registered', ') is ', regexp_extract(to_json(struct(`registered__raw` AS a)), '^..a.:(.*).\\z', 1), ', which ', CASE WHEN `registered__raw` RLIKE '^-[0-9]+\\z' THEN 'is not a whole number'
    WHEN `registered__raw` RLIKE '^[0-9]+\\z' THEN 'is more than 2,147,483,647, the maximum of a column' ELSE 'is not a whole number' END) END AS STRING)), NULL), IF(`party_a__reason` IS NOT NULL, named_struct('check_name', CAST(`party_a__reason` AS STRING), 'severity', CAST('error' AS STRING), 'column_name', CAST('party_a' AS STRING), 'raw_value', CAST(`party_a__raw` AS STRING), 'expected', CAST(NULL AS STRING), 'actual', CAST(NULL AS STRING), 'message', CAST(CASE `party_a__reason` WHEN 'missing' THEN concat('party_a', ' (', 'partyA', ') is missing') WHEN 'null' THEN concat('party_a', ' (', 'partyA', ') is null') WHEN 'empty' THEN concat('party_a', ' (', 'partyA', ') is empty') WHEN 'malformed' THEN concat('party_a', ' (', 'partyA', ') is ', regexp_extract(to_json(struct(`party_a__raw` AS a)), '^..a.:(.*).\\z', 1), ', which ', CASE WHEN `party_a__raw` RLIKE '^-[0-9]+\\z' THEN 'is not a whole number'
    WHEN `party_a__raw` RLIKE '^[0-9]+\\z' THEN 'is more than 2,147,483,647, the maximum of a column' ELSE 'is not a whole number' END) END AS STRING)), NULL), IF(`party_b__reason` IS NOT NULL, named_struct('check_name', CAST(`party_b__reason` AS STRING), 'severity', CAST('error' AS STRING), 'column_name', CAST('party_b' AS STRING), 'raw_value', CAST(`party_b__raw` AS STRING), 'expected', CAST(NULL AS STRING), 'actual', CAST(NULL AS STRING), 'message', CAST(CASE `party_b__reason` WHEN 'missing' THEN concat('party_b', ' (', 'partyB', ') is missing') WHEN 'null' THEN concat('party_b', ' (', 'partyB', ') is null') WHEN 'empty' THEN concat('party_b', ' (', 'partyB', ') is empty') WHEN 'malformed' THEN concat('party_b', ' (', 'partyB', ') is ', regexp_extract(to_json(struct(`party_b__raw` AS a)), '^..a.:(.*).\\z', 1), ', which ', CASE WHEN `party_b__raw` RLIKE '^-[0-9]+\\z' THEN 'is not a whole number'
    WHEN `party_b__raw` RLIKE '^[0-9]+\\z' THEN 'is more than 2,147,483,647, the maximum of a column' ELSE 'is not a whole number' END) END AS STRING)), NULL), IF(`valid__reason` IS NOT NULL, named_struct('check_name', CAST(`valid__reason` AS STRING), 'severity', CAST('error' AS STRING), 'column_name', CAST('valid' AS STRING), 'raw_value', CAST(`valid__raw` AS STRING), 'expected', CAST(NULL AS STRING), 'actual', CAST(NULL AS STRING), 'message', CAST(CASE `valid__reason` WHEN 'missing' THEN concat('valid', ' (', 'valid', ') is missing') WHEN 'null' THEN concat('valid', ' (', 'valid', ') is null') WHEN 'empty' THEN concat('valid', ' (', 'valid', ') is empty') WHEN 'malformed' THEN concat('valid', ' (', 'valid', ') is ', regexp_extract(to_json(struct(`valid__raw` AS a)), '^..a.:(.*).\\z', 1), ', which ', CASE WHEN `valid__raw` RLIKE '^-[0-9]+\\z' THEN 'is not a whole number'
    WHEN `valid__raw` RLIKE '^[0-9]+\\z' THEN 'is more than 2,147,483,647, the maximum of a column' ELSE 'is not a whole number' END) END AS STRING)), NULL), IF(`invalid__reason` IS NOT NULL, named_struct('check_name', CAST(`invalid__reason` AS STRING), 'severity', CAST('error' AS STRING), 'column_name', CAST('invalid' AS STRING), 'raw_value', CAST(`invalid__raw` AS STRING), 'expected', CAST(NULL AS STRING), 'actual', CAST(NULL AS STRING), 'message', CAST(CASE `invalid__reason` WHEN 'missing' THEN concat('invalid', ' (', 'invalid', ') is missing') WHEN 'null' THEN concat('invalid', ' (', 'invalid', ') is null') WHEN 'empty' THEN concat('invalid', ' (', 'invalid', ') is empty') WHEN 'malformed' THEN concat('invalid', ' (', 'invalid', ') is ', regexp_extract(to_json(struct(`invalid__raw` AS a)), '^..a.:(.*).\\z', 1), ', which ', CASE WHEN `invalid__raw` RLIKE '^-[0-9]+\\z' THEN 'is not a whole number'
    WHEN `invalid__raw` RLIKE '^[0-9]+\\z' THEN 'is more than 2,147,483,647, the maximum of a column' ELSE 'is not a whole number' END) END AS STRING)), NULL), IF(`ballots__reason` IS NOT NULL, named_struct('check_name', CAST(`ballots__reason` AS STRING), 'severity', CAST('error' AS STRING), 'column_name', CAST('ballots' AS STRING), 'raw_value', CAST(`ballots__raw` AS STRING), 'expected', CAST(NULL AS STRING), 'actual', CAST(NULL AS STRING), 'message', CAST(CASE `ballots__reason` WHEN 'missing' THEN concat('ballots', ' (', 'ballots', ') is missing') WHEN 'null' THEN concat('ballots', ' (', 'ballots', ') is null') WHEN 'empty' THEN concat('ballots', ' (', 'ballots', ') is empty') WHEN 'malformed' THEN concat('ballots', ' (', 'ballots', ') is ', regexp_extract(to_json(struct(`ballots__raw` AS a)), '^..a.:(.*).\\z', 1), ', which ', CASE WHEN `ballots__raw` RLIKE '^-[0-9]+\\z' THEN 'is not a whole number'
    WHEN `ballots__raw` RLIKE '^[0-9]+\\z' THEN 'is more than 2,147,483,647, the maximum of a column' ELSE 'is not a whole number' END) END AS STRING)), NULL), IF(CAST(`valid` AS DECIMAL(38,0)) <> CAST(CAST(`party_a` AS DECIMAL(38,0)) + CAST(`party_b` AS DECIMAL(38,0)) AS DECIMAL(38,0)), named_struct('check_name', CAST('valid_sum' AS STRING), 'severity', CAST('error' AS STRING), 'column_name', CAST('valid' AS STRING), 'raw_value', CAST(NULL AS STRING), 'expected', CAST(CAST(CAST(CAST(`party_a` AS DECIMAL(38,0)) + CAST(`party_b` AS DECIMAL(38,0)) AS DECIMAL(38,0)) AS STRING) AS STRING), 'actual', CAST(CAST(CAST(`valid` AS DECIMAL(38,0)) AS STRING) AS STRING), 'message', CAST(concat('valid', ' (', 'valid', ') is ', CAST(CAST(`valid` AS DECIMAL(38,0)) AS STRING), ', but ', 'party_a + party_b', ' = ', CAST(CAST(CAST(`party_a` AS DECIMAL(38,0)) + CAST(`party_b` AS DECIMAL(38,0)) AS DECIMAL(38,0)) AS STRING)) AS STRING)), NULL), IF(CAST(`ballots` AS DECIMAL(38,0)) <> CAST(CAST(`valid` AS DECIMAL(38,0)) + CAST(`invalid` AS DECIMAL(38,0)) AS DECIMAL(38,0)), named_struct('check_name', CAST('ballots_sum' AS STRING), 'severity', CAST('error' AS STRING), 'column_name', CAST('ballots' AS STRING), 'raw_value', CAST(NULL AS STRING), 'expected', CAST(CAST(CAST(CAST(`valid` AS DECIMAL(38,0)) + CAST(`invalid` AS DECIMAL(38,0)) AS DECIMAL(38,0)) AS STRING) AS STRING), 'actual', CAST(CAST(CAST(`ballots` AS DECIMAL(38,0)) AS STRING) AS STRING), 'message', CAST(concat('ballots', ' (', 'ballots', ') is ', CAST(CAST(`ballots` AS DECIMAL(38,0)) AS STRING), ', but ', 'valid + invalid', ' = ', CAST(CAST(CAST(`valid` AS DECIMAL(38,0)) + CAST(`invalid` AS DECIMAL(38,0)) AS DECIMAL(38,0)) AS STRING)) AS STRING)), NULL), IF(`station` < 1, named_struct('check_name', CAST('station_range' AS STRING), 'severity', CAST('warning' AS STRING), 'column_name', CAST('station' AS STRING), 'raw_value', CAST(NULL AS STRING), 'expected', CAST('at least 1' AS STRING), 'actual', CAST(CAST(`station` AS STRING) AS STRING), 'message', CAST(concat('station', ' (', 'station', ') is ', CAST(`station` AS STRING), ', but must be ', 'at least 1') AS STRING)), NULL)), v -> v IS NOT NULL)) AS v FROM `results__judged` WHERE key_rank = 1)
UNION ALL SELECT CAST('results' AS STRING) AS `dataset`, CAST(`region` AS STRING) AS `region`, CAST(`station` AS BIGINT) AS `station`, CAST(v.check_name AS STRING) AS `check_name`, CAST(v.severity AS STRING) AS `severity`, CAST(v.column_name AS STRING) AS `column_name`, CAST(v.raw_value AS STRING) AS `raw_value`, CAST(v.expected AS STRING) AS `expected`, CAST(v.actual AS STRING) AS `actual`, CAST(v.message AS STRING) AS `message`, CAST(NULL AS STRING) AS `first_snapshot`, CAST(NULL AS TIMESTAMP_NTZ) AS `since` FROM (SELECT *, named_struct('check_name', CAST('conflicting_records' AS STRING), 'severity', CAST('error' AS STRING), 'column_name', CAST('' AS STRING), 'raw_value', CAST(NULL AS STRING), 'expected', CAST(NULL AS STRING), 'actual', CAST(NULL AS STRING), 'message', CAST('the source has several records with this key. The first is published. This one is in quarantine.' AS STRING)) AS v FROM `results__judged` WHERE key_rank > 1);

CREATE OR REPLACE TEMPORARY VIEW `violations` AS SELECT * FROM `lake`.`rekap`.`violations`.`branch_run_20261120T030000Z_400000`;

ALTER TABLE `lake`.`rekap`.`results` DROP BRANCH IF EXISTS `run_20261120T030000Z_400000`;

ALTER TABLE `lake`.`rekap`.`results` CREATE BRANCH `run_20261120T030000Z_400000`;

INSERT OVERWRITE `lake`.`rekap`.`results`.`branch_run_20261120T030000Z_400000` (`region`, `station`, `building`, `registered`, `party_a`, `party_b`, `valid`, `invalid`, `ballots`, `is_consistent`) SELECT `region`, `station`, `building`, `registered`, `party_a`, `party_b`, `valid`, `invalid`, `ballots`, NOT EXISTS (
  SELECT 1 FROM violations v WHERE v.severity = 'error' AND v.dataset = 'results' AND v.`region` = r.`region` AND v.`station` = r.`station`) AS `is_consistent`
FROM `results__rows` r;

CREATE OR REPLACE TEMPORARY VIEW `results` AS SELECT * FROM `lake`.`rekap`.`results`.`branch_run_20261120T030000Z_400000`;

CREATE OR REPLACE TEMPORARY VIEW `turnout_by_region` AS 
SELECT region, sum(ballots) AS ballots, sum(registered) AS registered,
  1e2 * sum(ballots) / sum(registered) AS turnout
FROM results
GROUP BY region
;

INSERT INTO `lake`.`rekap`.`violations`.`branch_run_20261120T030000Z_400000` (`dataset`, `region`, `station`, `check_name`, `severity`, `column_name`, `raw_value`, `expected`, `actual`, `message`, `first_snapshot`, `since`) SELECT CAST(`dataset` AS STRING) AS `dataset`, CAST(`region` AS STRING) AS `region`, CAST(`station` AS BIGINT) AS `station`, CAST('more_ballots_than_people' AS STRING) AS `check_name`, CAST(`severity` AS STRING) AS `severity`, CAST(`column_name` AS STRING) AS `column_name`, CAST(NULL AS STRING) AS `raw_value`, CAST(`expected` AS STRING) AS `expected`, CAST(`actual` AS STRING) AS `actual`, CAST(concat('', coalesce(`column_name`, ''), ' (', coalesce(CASE WHEN dataset = 'results' AND column_name = 'region' THEN 'region' WHEN dataset = 'results' AND column_name = 'station' THEN 'station' WHEN dataset = 'results' AND column_name = 'building' THEN 'building' WHEN dataset = 'results' AND column_name = 'registered' THEN 'registered' WHEN dataset = 'results' AND column_name = 'party_a' THEN 'partyA' WHEN dataset = 'results' AND column_name = 'party_b' THEN 'partyB' WHEN dataset = 'results' AND column_name = 'valid' THEN 'valid' WHEN dataset = 'results' AND column_name = 'invalid' THEN 'invalid' WHEN dataset = 'results' AND column_name = 'ballots' THEN 'ballots' ELSE '' END, ''), ') is ', coalesce(`actual`, ''), ', but the register has ', coalesce(`expected`, ''), ' people') AS STRING) AS `message`, CAST(NULL AS STRING) AS `first_snapshot`, CAST(NULL AS TIMESTAMP_NTZ) AS `since` FROM (
SELECT 'results' AS dataset, region, station, 'error' AS severity, 'ballots' AS column_name,
  registered AS expected, ballots AS actual
FROM results
WHERE ballots > registered
) AS found;

INSERT OVERWRITE `lake`.`rekap`.`results`.`branch_run_20261120T030000Z_400000` (`region`, `station`, `building`, `registered`, `party_a`, `party_b`, `valid`, `invalid`, `ballots`, `is_consistent`) SELECT `region`, `station`, `building`, `registered`, `party_a`, `party_b`, `valid`, `invalid`, `ballots`, NOT EXISTS (
  SELECT 1 FROM violations v WHERE v.severity = 'error' AND v.dataset = 'results' AND v.`region` = r.`region` AND v.`station` = r.`station`) AS `is_consistent`
FROM `results__rows` r;

ALTER TABLE `lake`.`rekap`.`quarantine` DROP BRANCH IF EXISTS `run_20261120T030000Z_400000`;

ALTER TABLE `lake`.`rekap`.`quarantine` CREATE BRANCH `run_20261120T030000Z_400000`;

INSERT OVERWRITE `lake`.`rekap`.`quarantine`.`branch_run_20261120T030000Z_400000` (`dataset`, `reason`, `record`, `partition_value`, `request`) SELECT CAST('results' AS STRING) AS `dataset`, CAST(coalesce(problem, 'same key, other values') AS STRING) AS `reason`, CAST(quarantined.record AS STRING) AS `record`, CAST(quarantined.partition_value AS STRING) AS `partition_value`, CAST(quarantined.request AS STRING) AS `request` FROM `results__judged` WHERE quarantined IS NOT NULL;

CREATE OR REPLACE TEMPORARY VIEW `quarantine` AS SELECT * FROM `lake`.`rekap`.`quarantine`.`branch_run_20261120T030000Z_400000`;

ALTER TABLE `lake`.`rekap`.`turnout_by_region` DROP BRANCH IF EXISTS `run_20261120T030000Z_400000`;

ALTER TABLE `lake`.`rekap`.`turnout_by_region` CREATE BRANCH `run_20261120T030000Z_400000`;

INSERT OVERWRITE `lake`.`rekap`.`turnout_by_region`.`branch_run_20261120T030000Z_400000` (`region`, `ballots`, `registered`, `turnout`) SELECT `region`, `ballots`, `registered`, `turnout` FROM `turnout_by_region`;

CREATE OR REPLACE TEMPORARY VIEW `turnout_by_region` AS SELECT * FROM `lake`.`rekap`.`turnout_by_region`.`branch_run_20261120T030000Z_400000`;

ALTER TABLE `lake`.`rekap`.`ledger` DROP BRANCH IF EXISTS `run_20261120T030000Z_400000`;

ALTER TABLE `lake`.`rekap`.`ledger` CREATE BRANCH `run_20261120T030000Z_400000`;

INSERT OVERWRITE `lake`.`rekap`.`ledger`.`branch_run_20261120T030000Z_400000` (`run_id`, `dataset`, `fetched`, `published`, `quarantined`, `duplicates`) SELECT '20261120T030000Z-400000' AS run_id, 'results' AS dataset, count(*) AS fetched,
  count_if(key_rank = 1) AS published, count(quarantined) AS quarantined,
  count_if(is_duplicate) AS duplicates FROM `results__judged`;

CREATE OR REPLACE TEMPORARY VIEW `ledger` AS SELECT * FROM `lake`.`rekap`.`ledger`.`branch_run_20261120T030000Z_400000`;

DROP TABLE `lake`.`raw`.`run_20261120T030000Z_400000_results` PURGE;
