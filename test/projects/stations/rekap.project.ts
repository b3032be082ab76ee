import { defineProject } from 'rekap';

export default defineProject({
  name: 'stations',
  title: 'Polling stations',
  auth: { bearer: true, variable: 'STATIONS_TOKEN' },
  paging: { by: 'page', page: 'page', size: 'per_page' },
  records: '/results',
  reportedCount: '/total',
});
