-- Seats by region.
-- region: Code of the region.
-- seats: Seats in all stations of the region.
SELECT region, sum(seats) AS seats FROM stations GROUP BY region
