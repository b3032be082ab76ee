-- Turnout per province and sex: the rows of `turnout_sums` on that level.
SELECT * EXCLUDE (level, dapil_id, dapil_name) FROM turnout_sums WHERE level = 'province' ORDER BY ALL
