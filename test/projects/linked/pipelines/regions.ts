import { definePipeline, text } from 'rekap';

export default definePipeline({
  table: 'regions',
  title: 'Regions',
  comment: 'Regions of the country.',
  path: '/v1/regions',
  records: '/regions',
  columns: { code: text('code', 'Code of the region.') },
  key: ['code'],
});
