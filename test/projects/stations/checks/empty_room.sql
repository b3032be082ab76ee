-- A station has seats.
-- en: {column} ({field}) is {actual}
SELECT 'stations' AS dataset, region, number, 'warning' AS severity, 'seats' AS column_name, 'more than 0' AS expected, seats AS actual
FROM stations WHERE seats = 0
