import { defineProject } from 'rekap';

export default defineProject({
  name: 'openfda',
  title: 'Recalls of food',
  auth: { query: 'api_key' },
  paging: { by: 'next', link: true, size: 'limit' },
  records: '/results',
  reportedCount: '/meta/results/total',
});
