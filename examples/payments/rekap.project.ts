import { defineProject } from 'rekap';

export default defineProject({
  name: 'payments',
  title: 'Campaign payments',
  auth: { header: 'x-api-key' },
  paging: { by: 'next', cursor: '/meta/next', parameter: 'cursor', size: 'limit' },
  records: '/items',
});
