import { defineProject } from 'rekap';

export default defineProject({
  name: 'ckan',
  title: 'A table of an open data portal',
  paging: { by: 'offset', limit: 'limit', offset: 'offset' },
  records: '/result/records',
  reportedCount: '/result/total',
});
