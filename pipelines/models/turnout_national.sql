-- National turnout by sex: the rows of `turnout_sums` at that level.
SELECT * EXCLUDE (level, dapil_id, dapil_name, province) FROM turnout_sums WHERE level = 'national' ORDER BY ALL
