-- A station has at most as many ballots as registered people.
-- en: {column} ({field}) is {actual}, but the register has {expected} people
SELECT 'results' AS dataset, region, station, 'error' AS severity, 'ballots' AS column_name,
  registered AS expected, ballots AS actual
FROM results
WHERE ballots > registered
