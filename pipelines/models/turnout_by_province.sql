-- Turnout by province and sex: the rows of `turnout_sums` at that level.
-- province: Name of the province.
SELECT * EXCLUDE (level, dapil_id, dapil_name) FROM turnout_sums WHERE level = 'province' ORDER BY ALL
