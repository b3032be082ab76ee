import { defineReport } from 'rekap';

export default defineReport([
  {
    title: 'Ballots by region',
    text: 'A ballot is invalid if it names no candidate, or several.',
    query:
      'SELECT region, count(*) AS stations, sum(ballots) AS ballots, sum(invalid) AS invalid FROM stations GROUP BY region ORDER BY region',
  },
]);
