import { definePipeline, integer, text } from 'rekap';

export default definePipeline({
  table: 'regencies',
  title: 'Regencies',
  comment: 'The second level of the tree: a file per province.',
  path: '/wilayah/pemilu/ppwp/{province}.json',
  partition: { parameter: 'province', column: 'province', values: { from: 'pipeline', column: 'provinces.code' } },
  records: '',
  columns: {
    province: text('province', 'Code of the province.', { from: 'request' }),
    code: text('kode', 'Code of four digits.'),
    name: text('nama', 'Name.'),
    level: integer('tingkat', 'Level: 2.'),
  },
  key: ['province', 'code'],
});
