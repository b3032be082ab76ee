import { defineProject } from 'rekap';

export default defineProject({
  name: 'bps',
  title: 'Variables of the statistics office',
  auth: { query: 'key' },
  paging: { by: 'page', page: 'page' },
  records: '/data/1',
  reportedCount: '/data/0/total',
});
