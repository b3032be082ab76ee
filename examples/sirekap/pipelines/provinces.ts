import { definePipeline, integer, text } from 'rekap';

export default definePipeline({
  table: 'provinces',
  title: 'Provinces',
  comment: 'The top of the tree of regions.',
  path: '/wilayah/pemilu/ppwp/0.json',
  records: '',
  columns: {
    code: text('kode', 'Code of two digits.'),
    name: text('nama', 'Name.'),
    level: integer('tingkat', 'Level: 1.'),
  },
  key: ['code'],
});
