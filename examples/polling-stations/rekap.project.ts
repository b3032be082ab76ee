import { defineProject } from 'rekap';

export default defineProject({
  name: 'polling-stations',
  title: 'Results by polling station',
  auth: { bearer: true },
  paging: { by: 'page', page: 'page', size: 'per_page' },
  records: '/results',
  reportedCount: '/total',
});
