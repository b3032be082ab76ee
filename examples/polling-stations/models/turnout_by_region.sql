-- Ballots and registered people by region.
-- region: Code of the region.
-- ballots: Ballots cast.
-- registered: People on the register.
-- turnout: Share of the registered people who cast a ballot, in percent.
SELECT region, sum(ballots) AS ballots, sum(registered) AS registered,
  1e2 * sum(ballots) / nullif(sum(registered), 0) AS turnout
FROM results
GROUP BY region
