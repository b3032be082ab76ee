-- Transforms run 20261120T030000Z-400000 of polling-stations to the branch run_20261120T030000Z_400000 of the tables in lake.rekap.
-- Models and checks across tables are not part of it, because their SQL is for DuckDB.
-- To check and publish the branch, run: rekap lake release 20261120T030000Z-400000 --namespace rekap
SET spark.sql.variable.substitute = false;

SET spark.sql.ansi.enabled = true;

SET spark.sql.ansi.doubleQuotedIdentifiers = true;

SET spark.sql.storeAssignmentPolicy = ANSI;

SET spark.sql.parser.escapedStringLiterals = false;

SET spark.sql.sources.partitionOverwriteMode = static;

SET spark.sql.decimalOperations.allowPrecisionLoss = false;

SET spark.sql.optimizer.excludedRules = org.apache.spark.sql.catalyst.optimizer.CollapseProject;

ALTER TABLE `lake`.`rekap`.`ledger` DROP BRANCH IF EXISTS `run_20261120T030000Z_400000`;

CREATE OR REPLACE TABLE `lake`.`raw`.`run_20261120T030000Z_400000_results` USING iceberg AS 
WITH landed AS (
  SELECT position AS _position, partition_value AS _partition_value, request AS _request, record AS _record, fields AS _fields,
    from_json(fields, 'map<string,string>') AS _fields_of
  FROM `lake`.`raw`.`records` WHERE run_id = '20261120T030000Z-400000' AND dataset = 'results'
),
typed AS (
  SELECT *, left(_fields_of['region'], 1) AS `_region_written`,
  substr(_fields_of['region'], 2) AS `_region_text`,
  CASE WHEN `_region_written` = 't' AND `_region_text` <> '' THEN `_region_text` END AS `region`,
  CASE WHEN `_region_written` IS NULL THEN 'missing' WHEN `_region_written` = 'z' THEN 'null'
    WHEN `_region_written` = 't' AND `_region_text` = '' THEN 'empty' WHEN `region` IS NULL THEN 'malformed' END AS `_region_reason`,
  CASE WHEN `_region_reason` IN ('empty', 'malformed') THEN `_region_text` END AS `_region_raw`,
  left(_fields_of['station'], 1) AS `_station_written`,
  substr(_fields_of['station'], 2) AS `_station_text`,
  CASE WHEN `_station_written` IN ('t', 'n') AND `_station_text` RLIKE '^-?[0-9]{1,40}\\z' AND length(concat('0', trim(LEADING '0' FROM replace(`_station_text`, '-', '')))) <= 21
    THEN try_cast(concat(CASE WHEN `_station_text` LIKE '-%' THEN '-' ELSE '' END, concat('0', trim(LEADING '0' FROM replace(`_station_text`, '-', '')))) AS DECIMAL(38,0))
    WHEN `_station_written` = 'n' AND `_station_text` RLIKE '^-?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]{1,3})?\\z' AND try_cast(`_station_text` AS DECIMAL(38,17)) = floor(try_cast(`_station_text` AS DECIMAL(38,17))) THEN CAST(try_cast(`_station_text` AS DECIMAL(38,17)) AS DECIMAL(38,0)) END AS `_station_number`,
  CASE WHEN `_station_number` BETWEEN -9223372036854775808 AND 9223372036854775807 THEN CAST(`_station_number` AS BIGINT) END AS `station`,
  CASE WHEN `_station_written` IS NULL THEN 'missing' WHEN `_station_written` = 'z' THEN 'null'
    WHEN `_station_written` = 't' AND `_station_text` = '' THEN 'empty' WHEN `station` IS NULL THEN 'malformed' END AS `_station_reason`,
  CASE WHEN `_station_reason` IN ('empty', 'malformed') THEN `_station_text` END AS `_station_raw`,
  left(_fields_of['building'], 1) AS `_building_written`,
  substr(_fields_of['building'], 2) AS `_building_text`,
  CASE WHEN `_building_written` = 't' AND `_building_text` <> '' THEN `_building_text` END AS `building`,
  CASE WHEN `_building_written` IS NULL THEN 'missing' WHEN `_building_written` = 'z' THEN 'null'
    WHEN `_building_written` = 't' AND `_building_text` = '' THEN 'empty' WHEN `building` IS NULL THEN 'malformed' END AS `_building_reason`,
  CASE WHEN `_building_reason` IN ('empty', 'malformed') THEN `_building_text` END AS `_building_raw`,
  left(_fields_of['registered'], 1) AS `_registered_written`,
  substr(_fields_of['registered'], 2) AS `_registered_text`,
  CASE WHEN `_registered_written` IN ('t', 'n') AND `_registered_text` RLIKE '^[0-9]+\\z' AND length(concat('0', trim(LEADING '0' FROM replace(`_registered_text`, '-', '')))) <= 21
    THEN try_cast(concat(CASE WHEN `_registered_text` LIKE '-%' THEN '-' ELSE '' END, concat('0', trim(LEADING '0' FROM replace(`_registered_text`, '-', '')))) AS DECIMAL(38,0))
    WHEN `_registered_written` = 'n' AND `_registered_text` RLIKE '^-?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]{1,3})?\\z' AND try_cast(`_registered_text` AS DECIMAL(38,17)) = floor(try_cast(`_registered_text` AS DECIMAL(38,17))) THEN CAST(try_cast(`_registered_text` AS DECIMAL(38,17)) AS DECIMAL(38,0)) END AS `_registered_number`,
  CASE WHEN `_registered_number` BETWEEN 0 AND 2147483647 THEN CAST(`_registered_number` AS INT) END AS `registered`,
  CASE WHEN `_registered_written` IS NULL THEN 'missing' WHEN `_registered_written` = 'z' THEN 'null'
    WHEN `_registered_written` = 't' AND `_registered_text` = '' THEN 'empty' WHEN `registered` IS NULL THEN 'malformed' END AS `_registered_reason`,
  CASE WHEN `_registered_reason` IN ('empty', 'malformed') THEN `_registered_text` END AS `_registered_raw`,
  left(_fields_of['party_a'], 1) AS `_party_a_written`,
  substr(_fields_of['party_a'], 2) AS `_party_a_text`,
  CASE WHEN `_party_a_written` IN ('t', 'n') AND `_party_a_text` RLIKE '^[0-9]+\\z' AND length(concat('0', trim(LEADING '0' FROM replace(`_party_a_text`, '-', '')))) <= 21
    THEN try_cast(concat(CASE WHEN `_party_a_text` LIKE '-%' THEN '-' ELSE '' END, concat('0', trim(LEADING '0' FROM replace(`_party_a_text`, '-', '')))) AS DECIMAL(38,0))
    WHEN `_party_a_written` = 'n' AND `_party_a_text` RLIKE '^-?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]{1,3})?\\z' AND try_cast(`_party_a_text` AS DECIMAL(38,17)) = floor(try_cast(`_party_a_text` AS DECIMAL(38,17))) THEN CAST(try_cast(`_party_a_text` AS DECIMAL(38,17)) AS DECIMAL(38,0)) END AS `_party_a_number`,
  CASE WHEN `_party_a_number` BETWEEN 0 AND 2147483647 THEN CAST(`_party_a_number` AS INT) END AS `party_a`,
  CASE WHEN `_party_a_written` IS NULL THEN 'missing' WHEN `_party_a_written` = 'z' THEN 'null'
    WHEN `_party_a_written` = 't' AND `_party_a_text` = '' THEN 'empty' WHEN `party_a` IS NULL THEN 'malformed' END AS `_party_a_reason`,
  CASE WHEN `_party_a_reason` IN ('empty', 'malformed') THEN `_party_a_text` END AS `_party_a_raw`,
  left(_fields_of['party_b'], 1) AS `_party_b_written`,
  substr(_fields_of['party_b'], 2) AS `_party_b_text`,
  CASE WHEN `_party_b_written` IN ('t', 'n') AND `_party_b_text` RLIKE '^[0-9]+\\z' AND length(concat('0', trim(LEADING '0' FROM replace(`_party_b_text`, '-', '')))) <= 21
    THEN try_cast(concat(CASE WHEN `_party_b_text` LIKE '-%' THEN '-' ELSE '' END, concat('0', trim(LEADING '0' FROM replace(`_party_b_text`, '-', '')))) AS DECIMAL(38,0))
    WHEN `_party_b_written` = 'n' AND `_party_b_text` RLIKE '^-?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]{1,3})?\\z' AND try_cast(`_party_b_text` AS DECIMAL(38,17)) = floor(try_cast(`_party_b_text` AS DECIMAL(38,17))) THEN CAST(try_cast(`_party_b_text` AS DECIMAL(38,17)) AS DECIMAL(38,0)) END AS `_party_b_number`,
  CASE WHEN `_party_b_number` BETWEEN 0 AND 2147483647 THEN CAST(`_party_b_number` AS INT) END AS `party_b`,
  CASE WHEN `_party_b_written` IS NULL THEN 'missing' WHEN `_party_b_written` = 'z' THEN 'null'
    WHEN `_party_b_written` = 't' AND `_party_b_text` = '' THEN 'empty' WHEN `party_b` IS NULL THEN 'malformed' END AS `_party_b_reason`,
  CASE WHEN `_party_b_reason` IN ('empty', 'malformed') THEN `_party_b_text` END AS `_party_b_raw`,
  left(_fields_of['valid'], 1) AS `_valid_written`,
  substr(_fields_of['valid'], 2) AS `_valid_text`,
  CASE WHEN `_valid_written` IN ('t', 'n') AND `_valid_text` RLIKE '^[0-9]+\\z' AND length(concat('0', trim(LEADING '0' FROM replace(`_valid_text`, '-', '')))) <= 21
    THEN try_cast(concat(CASE WHEN `_valid_text` LIKE '-%' THEN '-' ELSE '' END, concat('0', trim(LEADING '0' FROM replace(`_valid_text`, '-', '')))) AS DECIMAL(38,0))
    WHEN `_valid_written` = 'n' AND `_valid_text` RLIKE '^-?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]{1,3})?\\z' AND try_cast(`_valid_text` AS DECIMAL(38,17)) = floor(try_cast(`_valid_text` AS DECIMAL(38,17))) THEN CAST(try_cast(`_valid_text` AS DECIMAL(38,17)) AS DECIMAL(38,0)) END AS `_valid_number`,
  CASE WHEN `_valid_number` BETWEEN 0 AND 2147483647 THEN CAST(`_valid_number` AS INT) END AS `valid`,
  CASE WHEN `_valid_written` IS NULL THEN 'missing' WHEN `_valid_written` = 'z' THEN 'null'
    WHEN `_valid_written` = 't' AND `_valid_text` = '' THEN 'empty' WHEN `valid` IS NULL THEN 'malformed' END AS `_valid_reason`,
  CASE WHEN `_valid_reason` IN ('empty', 'malformed') THEN `_valid_text` END AS `_valid_raw`,
  left(_fields_of['invalid'], 1) AS `_invalid_written`,
  substr(_fields_of['invalid'], 2) AS `_invalid_text`,
  CASE WHEN `_invalid_written` IN ('t', 'n') AND `_invalid_text` RLIKE '^[0-9]+\\z' AND length(concat('0', trim(LEADING '0' FROM replace(`_invalid_text`, '-', '')))) <= 21
    THEN try_cast(concat(CASE WHEN `_invalid_text` LIKE '-%' THEN '-' ELSE '' END, concat('0', trim(LEADING '0' FROM replace(`_invalid_text`, '-', '')))) AS DECIMAL(38,0))
    WHEN `_invalid_written` = 'n' AND `_invalid_text` RLIKE '^-?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]{1,3})?\\z' AND try_cast(`_invalid_text` AS DECIMAL(38,17)) = floor(try_cast(`_invalid_text` AS DECIMAL(38,17))) THEN CAST(try_cast(`_invalid_text` AS DECIMAL(38,17)) AS DECIMAL(38,0)) END AS `_invalid_number`,
  CASE WHEN `_invalid_number` BETWEEN 0 AND 2147483647 THEN CAST(`_invalid_number` AS INT) END AS `invalid`,
  CASE WHEN `_invalid_written` IS NULL THEN 'missing' WHEN `_invalid_written` = 'z' THEN 'null'
    WHEN `_invalid_written` = 't' AND `_invalid_text` = '' THEN 'empty' WHEN `invalid` IS NULL THEN 'malformed' END AS `_invalid_reason`,
  CASE WHEN `_invalid_reason` IN ('empty', 'malformed') THEN `_invalid_text` END AS `_invalid_raw`,
  left(_fields_of['ballots'], 1) AS `_ballots_written`,
  substr(_fields_of['ballots'], 2) AS `_ballots_text`,
  CASE WHEN `_ballots_written` IN ('t', 'n') AND `_ballots_text` RLIKE '^[0-9]+\\z' AND length(concat('0', trim(LEADING '0' FROM replace(`_ballots_text`, '-', '')))) <= 21
    THEN try_cast(concat(CASE WHEN `_ballots_text` LIKE '-%' THEN '-' ELSE '' END, concat('0', trim(LEADING '0' FROM replace(`_ballots_text`, '-', '')))) AS DECIMAL(38,0))
    WHEN `_ballots_written` = 'n' AND `_ballots_text` RLIKE '^-?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]{1,3})?\\z' AND try_cast(`_ballots_text` AS DECIMAL(38,17)) = floor(try_cast(`_ballots_text` AS DECIMAL(38,17))) THEN CAST(try_cast(`_ballots_text` AS DECIMAL(38,17)) AS DECIMAL(38,0)) END AS `_ballots_number`,
  CASE WHEN `_ballots_number` BETWEEN 0 AND 2147483647 THEN CAST(`_ballots_number` AS INT) END AS `ballots`,
  CASE WHEN `_ballots_written` IS NULL THEN 'missing' WHEN `_ballots_written` = 'z' THEN 'null'
    WHEN `_ballots_written` = 't' AND `_ballots_text` = '' THEN 'empty' WHEN `ballots` IS NULL THEN 'malformed' END AS `_ballots_reason`,
  CASE WHEN `_ballots_reason` IN ('empty', 'malformed') THEN `_ballots_text` END AS `_ballots_raw`
  FROM landed
),
named AS (
  SELECT *, CASE WHEN _fields IS NULL THEN 'not an object' WHEN `_region_reason` = 'missing' THEN 'region is missing' WHEN `_region_reason` = 'null' THEN 'region is null' WHEN `_region_reason` = 'empty' THEN 'region is empty' WHEN `_region_reason` = 'malformed' THEN 'region is not valid text' WHEN `_station_reason` = 'missing' THEN 'station is missing' WHEN `_station_reason` = 'null' THEN 'station is null' WHEN `_station_reason` = 'empty' THEN 'station is empty' WHEN `_station_reason` = 'malformed' THEN 'station is not a whole number in digits, or is not between -9223372036854775808 and 9223372036854775807' END AS _problem
  FROM typed
),
counted AS (
  SELECT *,
    row_number() OVER (PARTITION BY _partition_value, _problem IS NULL, CASE WHEN _problem IS NULL THEN _fields ELSE _record END ORDER BY _position) AS _copy,
    max(_partition_value IS NOT NULL) OVER (PARTITION BY _problem IS NULL, CASE WHEN _problem IS NULL THEN _fields ELSE _record END) AS _is_in_partition
  FROM named
),
sorted AS (
  SELECT *, _copy > 1 OR (_problem IS NOT NULL AND _partition_value IS NULL AND _is_in_partition) AS _is_duplicate
  FROM counted
),
ranked AS (
  SELECT *, CASE WHEN _problem IS NULL AND NOT _is_duplicate THEN
    row_number() OVER (PARTITION BY _partition_value, _problem IS NULL, _is_duplicate, `region`, `station` ORDER BY _position) END AS _key_rank
  FROM sorted
)
SELECT `region`, `_region_reason`, `_region_raw`, `station`, `_station_reason`, `_station_raw`, `building`, `_building_reason`, `_building_raw`, `registered`, `_registered_reason`, `_registered_raw`, `party_a`, `_party_a_reason`, `_party_a_raw`, `party_b`, `_party_b_reason`, `_party_b_raw`, `valid`, `_valid_reason`, `_valid_raw`, `invalid`, `_invalid_reason`, `_invalid_raw`, `ballots`, `_ballots_reason`, `_ballots_raw`, _problem, _is_duplicate, _key_rank,
  CASE WHEN NOT _is_duplicate AND coalesce(_key_rank > 1, true)
    THEN struct(_record AS record, _partition_value AS partition_value, _request AS request) END AS _quarantined
FROM ranked;

RESET spark.sql.optimizer.excludedRules;

CREATE OR REPLACE TEMPORARY VIEW `_results_judged` AS SELECT * FROM `lake`.`raw`.`run_20261120T030000Z_400000_results`;

CREATE OR REPLACE TEMPORARY VIEW `_results_rows` AS SELECT `region`, `station`, `building`, `registered`, `party_a`, `party_b`, `valid`, `invalid`, `ballots` FROM `_results_judged` WHERE _key_rank = 1;

ALTER TABLE `lake`.`rekap`.`violations` DROP BRANCH IF EXISTS `run_20261120T030000Z_400000`;

ALTER TABLE `lake`.`rekap`.`violations` CREATE BRANCH `run_20261120T030000Z_400000`;

INSERT OVERWRITE `lake`.`rekap`.`violations`.`branch_run_20261120T030000Z_400000` (`dataset`, `region`, `station`, `check_name`, `severity`, `column_name`, `raw_value`, `expected`, `actual`, `message`, `first_snapshot`, `since`) SELECT CAST('results' AS STRING) AS `dataset`, CAST(`region` AS STRING) AS `region`, CAST(`station` AS BIGINT) AS `station`, CAST(_v.check_name AS STRING) AS `check_name`, CAST(_v.severity AS STRING) AS `severity`, CAST(_v.column_name AS STRING) AS `column_name`, CAST(_v.raw_value AS STRING) AS `raw_value`, CAST(_v.expected AS STRING) AS `expected`, CAST(_v.actual AS STRING) AS `actual`, CAST(_v.message AS STRING) AS `message`, CAST(NULL AS STRING) AS `first_snapshot`, CAST(NULL AS TIMESTAMP_NTZ) AS `since` FROM (SELECT *, explode(filter(array(IF(`_building_reason` = 'malformed', named_struct('check_name', CAST(`_building_reason` AS STRING), 'severity', CAST('error' AS STRING), 'column_name', CAST('building' AS STRING), 'raw_value', CAST(`_building_raw` AS STRING), 'expected', CAST(NULL AS STRING), 'actual', CAST(NULL AS STRING), 'message', CAST(CASE `_building_reason` WHEN 'missing' THEN concat('building', ' (', 'building', ') is missing') WHEN 'null' THEN concat('building', ' (', 'building', ') is null') WHEN 'empty' THEN concat('building', ' (', 'building', ') is empty') WHEN 'malformed' THEN concat('building', ' (', 'building', ') is ', regexp_extract(to_json(struct(`_building_raw` AS a)), '(?s)^..a.:(.*).\\z', 1), ', which ', 'is not valid text') END AS STRING)), NULL), IF(`_registered_reason` IS NOT NULL, named_struct('check_name', CAST(`_registered_reason` AS STRING), 'severity', CAST('error' AS STRING), 'column_name', CAST('registered' AS STRING), 'raw_value', CAST(`_registered_raw` AS STRING), 'expected', CAST(NULL AS STRING), 'actual', CAST(NULL AS STRING), 'message', CAST(CASE `_registered_reason` WHEN 'missing' THEN concat('registered', ' (', 'registered', ') is missing') WHEN 'null' THEN concat('registered', ' (', 'registered', ') is null') WHEN 'empty' THEN concat('registered', ' (', 'registered', ') is empty') WHEN 'malformed' THEN concat('registered', ' (', 'registered', ') is ', regexp_extract(to_json(struct(`_registered_raw` AS a)), '(?s)^..a.:(.*).\\z', 1), ', which ', CASE WHEN CASE WHEN `_registered_raw` RLIKE '^-?[0-9]+\\z' THEN try_cast(left(`_registered_raw`, 38) AS DECIMAL(38,0)) END < 0 THEN 'is less than 0, the minimum of the column'
    WHEN CASE WHEN `_registered_raw` RLIKE '^-?[0-9]+\\z' THEN try_cast(left(`_registered_raw`, 38) AS DECIMAL(38,0)) END > 2147483647 THEN 'is more than 2,147,483,647, the maximum of the column' ELSE 'is not a whole number' END) END AS STRING)), NULL), IF(`_party_a_reason` IS NOT NULL, named_struct('check_name', CAST(`_party_a_reason` AS STRING), 'severity', CAST('error' AS STRING), 'column_name', CAST('party_a' AS STRING), 'raw_value', CAST(`_party_a_raw` AS STRING), 'expected', CAST(NULL AS STRING), 'actual', CAST(NULL AS STRING), 'message', CAST(CASE `_party_a_reason` WHEN 'missing' THEN concat('party_a', ' (', 'partyA', ') is missing') WHEN 'null' THEN concat('party_a', ' (', 'partyA', ') is null') WHEN 'empty' THEN concat('party_a', ' (', 'partyA', ') is empty') WHEN 'malformed' THEN concat('party_a', ' (', 'partyA', ') is ', regexp_extract(to_json(struct(`_party_a_raw` AS a)), '(?s)^..a.:(.*).\\z', 1), ', which ', CASE WHEN CASE WHEN `_party_a_raw` RLIKE '^-?[0-9]+\\z' THEN try_cast(left(`_party_a_raw`, 38) AS DECIMAL(38,0)) END < 0 THEN 'is less than 0, the minimum of the column'
    WHEN CASE WHEN `_party_a_raw` RLIKE '^-?[0-9]+\\z' THEN try_cast(left(`_party_a_raw`, 38) AS DECIMAL(38,0)) END > 2147483647 THEN 'is more than 2,147,483,647, the maximum of the column' ELSE 'is not a whole number' END) END AS STRING)), NULL), IF(`_party_b_reason` IS NOT NULL, named_struct('check_name', CAST(`_party_b_reason` AS STRING), 'severity', CAST('error' AS STRING), 'column_name', CAST('party_b' AS STRING), 'raw_value', CAST(`_party_b_raw` AS STRING), 'expected', CAST(NULL AS STRING), 'actual', CAST(NULL AS STRING), 'message', CAST(CASE `_party_b_reason` WHEN 'missing' THEN concat('party_b', ' (', 'partyB', ') is missing') WHEN 'null' THEN concat('party_b', ' (', 'partyB', ') is null') WHEN 'empty' THEN concat('party_b', ' (', 'partyB', ') is empty') WHEN 'malformed' THEN concat('party_b', ' (', 'partyB', ') is ', regexp_extract(to_json(struct(`_party_b_raw` AS a)), '(?s)^..a.:(.*).\\z', 1), ', which ', CASE WHEN CASE WHEN `_party_b_raw` RLIKE '^-?[0-9]+\\z' THEN try_cast(left(`_party_b_raw`, 38) AS DECIMAL(38,0)) END < 0 THEN 'is less than 0, the minimum of the column'
    WHEN CASE WHEN `_party_b_raw` RLIKE '^-?[0-9]+\\z' THEN try_cast(left(`_party_b_raw`, 38) AS DECIMAL(38,0)) END > 2147483647 THEN 'is more than 2,147,483,647, the maximum of the column' ELSE 'is not a whole number' END) END AS STRING)), NULL), IF(`_valid_reason` IS NOT NULL, named_struct('check_name', CAST(`_valid_reason` AS STRING), 'severity', CAST('error' AS STRING), 'column_name', CAST('valid' AS STRING), 'raw_value', CAST(`_valid_raw` AS STRING), 'expected', CAST(NULL AS STRING), 'actual', CAST(NULL AS STRING), 'message', CAST(CASE `_valid_reason` WHEN 'missing' THEN concat('valid', ' (', 'valid', ') is missing') WHEN 'null' THEN concat('valid', ' (', 'valid', ') is null') WHEN 'empty' THEN concat('valid', ' (', 'valid', ') is empty') WHEN 'malformed' THEN concat('valid', ' (', 'valid', ') is ', regexp_extract(to_json(struct(`_valid_raw` AS a)), '(?s)^..a.:(.*).\\z', 1), ', which ', CASE WHEN CASE WHEN `_valid_raw` RLIKE '^-?[0-9]+\\z' THEN try_cast(left(`_valid_raw`, 38) AS DECIMAL(38,0)) END < 0 THEN 'is less than 0, the minimum of the column'
    WHEN CASE WHEN `_valid_raw` RLIKE '^-?[0-9]+\\z' THEN try_cast(left(`_valid_raw`, 38) AS DECIMAL(38,0)) END > 2147483647 THEN 'is more than 2,147,483,647, the maximum of the column' ELSE 'is not a whole number' END) END AS STRING)), NULL), IF(`_invalid_reason` IS NOT NULL, named_struct('check_name', CAST(`_invalid_reason` AS STRING), 'severity', CAST('error' AS STRING), 'column_name', CAST('invalid' AS STRING), 'raw_value', CAST(`_invalid_raw` AS STRING), 'expected', CAST(NULL AS STRING), 'actual', CAST(NULL AS STRING), 'message', CAST(CASE `_invalid_reason` WHEN 'missing' THEN concat('invalid', ' (', 'invalid', ') is missing') WHEN 'null' THEN concat('invalid', ' (', 'invalid', ') is null') WHEN 'empty' THEN concat('invalid', ' (', 'invalid', ') is empty') WHEN 'malformed' THEN concat('invalid', ' (', 'invalid', ') is ', regexp_extract(to_json(struct(`_invalid_raw` AS a)), '(?s)^..a.:(.*).\\z', 1), ', which ', CASE WHEN CASE WHEN `_invalid_raw` RLIKE '^-?[0-9]+\\z' THEN try_cast(left(`_invalid_raw`, 38) AS DECIMAL(38,0)) END < 0 THEN 'is less than 0, the minimum of the column'
    WHEN CASE WHEN `_invalid_raw` RLIKE '^-?[0-9]+\\z' THEN try_cast(left(`_invalid_raw`, 38) AS DECIMAL(38,0)) END > 2147483647 THEN 'is more than 2,147,483,647, the maximum of the column' ELSE 'is not a whole number' END) END AS STRING)), NULL), IF(`_ballots_reason` IS NOT NULL, named_struct('check_name', CAST(`_ballots_reason` AS STRING), 'severity', CAST('error' AS STRING), 'column_name', CAST('ballots' AS STRING), 'raw_value', CAST(`_ballots_raw` AS STRING), 'expected', CAST(NULL AS STRING), 'actual', CAST(NULL AS STRING), 'message', CAST(CASE `_ballots_reason` WHEN 'missing' THEN concat('ballots', ' (', 'ballots', ') is missing') WHEN 'null' THEN concat('ballots', ' (', 'ballots', ') is null') WHEN 'empty' THEN concat('ballots', ' (', 'ballots', ') is empty') WHEN 'malformed' THEN concat('ballots', ' (', 'ballots', ') is ', regexp_extract(to_json(struct(`_ballots_raw` AS a)), '(?s)^..a.:(.*).\\z', 1), ', which ', CASE WHEN CASE WHEN `_ballots_raw` RLIKE '^-?[0-9]+\\z' THEN try_cast(left(`_ballots_raw`, 38) AS DECIMAL(38,0)) END < 0 THEN 'is less than 0, the minimum of the column'
    WHEN CASE WHEN `_ballots_raw` RLIKE '^-?[0-9]+\\z' THEN try_cast(left(`_ballots_raw`, 38) AS DECIMAL(38,0)) END > 2147483647 THEN 'is more than 2,147,483,647, the maximum of the column' ELSE 'is not a whole number' END) END AS STRING)), NULL), IF(CAST(`valid` AS DECIMAL(38,0)) <> CAST(CAST(`party_a` AS DECIMAL(38,0)) + CAST(`party_b` AS DECIMAL(38,0)) AS DECIMAL(38,0)), named_struct('check_name', CAST('valid_sum' AS STRING), 'severity', CAST('error' AS STRING), 'column_name', CAST('valid' AS STRING), 'raw_value', CAST(NULL AS STRING), 'expected', CAST(CAST(CAST(`party_a` AS DECIMAL(38,0)) + CAST(`party_b` AS DECIMAL(38,0)) AS DECIMAL(38,0)) AS STRING), 'actual', CAST(CAST(`valid` AS DECIMAL(38,0)) AS STRING), 'message', CAST(concat('valid', ' (', 'valid', ') is ', CAST(`valid` AS DECIMAL(38,0)), ', but ', 'party_a + party_b', ' = ', CAST(CAST(`party_a` AS DECIMAL(38,0)) + CAST(`party_b` AS DECIMAL(38,0)) AS DECIMAL(38,0))) AS STRING)), NULL), IF(CAST(`ballots` AS DECIMAL(38,0)) <> CAST(CAST(`valid` AS DECIMAL(38,0)) + CAST(`invalid` AS DECIMAL(38,0)) AS DECIMAL(38,0)), named_struct('check_name', CAST('ballots_sum' AS STRING), 'severity', CAST('error' AS STRING), 'column_name', CAST('ballots' AS STRING), 'raw_value', CAST(NULL AS STRING), 'expected', CAST(CAST(CAST(`valid` AS DECIMAL(38,0)) + CAST(`invalid` AS DECIMAL(38,0)) AS DECIMAL(38,0)) AS STRING), 'actual', CAST(CAST(`ballots` AS DECIMAL(38,0)) AS STRING), 'message', CAST(concat('ballots', ' (', 'ballots', ') is ', CAST(`ballots` AS DECIMAL(38,0)), ', but ', 'valid + invalid', ' = ', CAST(CAST(`valid` AS DECIMAL(38,0)) + CAST(`invalid` AS DECIMAL(38,0)) AS DECIMAL(38,0))) AS STRING)), NULL), IF(`station` < 1, named_struct('check_name', CAST('station_range' AS STRING), 'severity', CAST('warning' AS STRING), 'column_name', CAST('station' AS STRING), 'raw_value', CAST(NULL AS STRING), 'expected', CAST('at least 1' AS STRING), 'actual', CAST(CAST(`station` AS STRING) AS STRING), 'message', CAST(concat('station', ' (', 'station', ') is ', CAST(`station` AS STRING), ', but must be ', 'at least 1') AS STRING)), NULL)), found -> found IS NOT NULL)) AS _v FROM `_results_judged` WHERE _key_rank = 1)
UNION ALL SELECT CAST('results' AS STRING) AS `dataset`, CAST(`region` AS STRING) AS `region`, CAST(`station` AS BIGINT) AS `station`, CAST(_v.check_name AS STRING) AS `check_name`, CAST(_v.severity AS STRING) AS `severity`, CAST(_v.column_name AS STRING) AS `column_name`, CAST(_v.raw_value AS STRING) AS `raw_value`, CAST(_v.expected AS STRING) AS `expected`, CAST(_v.actual AS STRING) AS `actual`, CAST(_v.message AS STRING) AS `message`, CAST(NULL AS STRING) AS `first_snapshot`, CAST(NULL AS TIMESTAMP_NTZ) AS `since` FROM (SELECT *, named_struct('check_name', CAST('conflicting_records' AS STRING), 'severity', CAST('error' AS STRING), 'column_name', CAST('' AS STRING), 'raw_value', CAST(NULL AS STRING), 'expected', CAST(NULL AS STRING), 'actual', CAST(NULL AS STRING), 'message', CAST('the source has several records with this key. The first is published. This one is in quarantine.' AS STRING)) AS _v FROM `_results_judged` WHERE _key_rank > 1);

ALTER TABLE `lake`.`rekap`.`results` DROP BRANCH IF EXISTS `run_20261120T030000Z_400000`;

ALTER TABLE `lake`.`rekap`.`results` CREATE BRANCH `run_20261120T030000Z_400000`;

INSERT OVERWRITE `lake`.`rekap`.`results`.`branch_run_20261120T030000Z_400000` (`region`, `station`, `building`, `registered`, `party_a`, `party_b`, `valid`, `invalid`, `ballots`, `is_consistent`) SELECT `region`, `station`, `building`, `registered`, `party_a`, `party_b`, `valid`, `invalid`, `ballots`, NOT EXISTS (
  SELECT 1 FROM `lake`.`rekap`.`violations`.`branch_run_20261120T030000Z_400000` v WHERE v.severity = 'error' AND v.dataset = 'results' AND v.`region` = r.`region` AND v.`station` = r.`station`) AS `is_consistent`
FROM `_results_rows` r;

ALTER TABLE `lake`.`rekap`.`quarantine` DROP BRANCH IF EXISTS `run_20261120T030000Z_400000`;

ALTER TABLE `lake`.`rekap`.`quarantine` CREATE BRANCH `run_20261120T030000Z_400000`;

INSERT OVERWRITE `lake`.`rekap`.`quarantine`.`branch_run_20261120T030000Z_400000` (`dataset`, `reason`, `record`, `partition_value`, `request`) SELECT CAST('results' AS STRING) AS `dataset`, CAST(coalesce(_problem, 'same key, other values') AS STRING) AS `reason`, CAST(_quarantined.record AS STRING) AS `record`, CAST(_quarantined.partition_value AS STRING) AS `partition_value`, CAST(_quarantined.request AS STRING) AS `request` FROM `_results_judged` WHERE _quarantined IS NOT NULL;

ALTER TABLE `lake`.`rekap`.`ledger` DROP BRANCH IF EXISTS `run_20261120T030000Z_400000`;

ALTER TABLE `lake`.`rekap`.`ledger` CREATE BRANCH `run_20261120T030000Z_400000`;

INSERT OVERWRITE `lake`.`rekap`.`ledger`.`branch_run_20261120T030000Z_400000` (`run_id`, `dataset`, `fetched`, `published`, `quarantined`, `duplicates`) SELECT '20261120T030000Z-400000' AS run_id, 'results' AS dataset, count(*) AS fetched,
  count_if(_key_rank = 1) AS published, count(_quarantined) AS quarantined,
  count_if(_is_duplicate) AS duplicates FROM `_results_judged`;

DROP TABLE `lake`.`raw`.`run_20261120T030000Z_400000_results` PURGE;
