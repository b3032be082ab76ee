-- Turnout by electoral district and sex: the rows of `turnout_sums` at that level.
SELECT * EXCLUDE (level, province) FROM turnout_sums WHERE level = 'dapil' ORDER BY ALL
