import { defineProject } from 'rekap';

export default defineProject({
  name: 'linked',
  title: 'Stations of regions',
  auth: { bearer: true },
  paging: { by: 'page', page: 'page', size: 'per_page' },
  records: '/results',
});
