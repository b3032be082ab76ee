import { defineProject } from 'rekap';

export default defineProject({
  name: 'my-project',
  title: 'Polling stations',
  // baseUrl: 'https://host',
  // The key comes from REKAP_API_KEY. Other places: { header: 'x-api-key' }, { basic: true }, { query: 'token' }.
  auth: { bearer: true },
  paging: { by: 'page', page: 'page', size: 'per_page' },
  records: '/results',
  reportedCount: '/total',
});
