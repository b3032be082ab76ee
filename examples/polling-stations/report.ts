import { defineReport } from 'rekap';

export default defineReport([
  {
    title: 'Turnout by region',
    query: 'SELECT * REPLACE (round(turnout, 1) AS turnout) FROM turnout_by_region ORDER BY region',
  },
]);
