-- Turnout by electoral district and sex: the rows of `turnout_sums` at that level.
-- dapil_id: Identifier of the electoral district (dapil) in the service. It looks like an official code but isn't one. Don't join it with codes of the interior ministry or the statistics office.
-- dapil_name: Name of the electoral district, in the spelling that most of its rows use.
SELECT * EXCLUDE (level, province) FROM turnout_sums WHERE level = 'dapil' ORDER BY ALL
