import { defineProject } from 'rekap';

export default defineProject({
  name: 'sirekap',
  title: 'A tree of regions and their votes',
  paging: { by: 'none' },
});
