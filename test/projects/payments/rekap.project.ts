import { defineProject } from 'rekap';

export default defineProject({
  name: 'payments',
  title: 'Campaign payments',
  paging: { by: 'next', cursor: '/page/next', parameter: 'cursor', size: 'size' },
  records: '/items',
});
