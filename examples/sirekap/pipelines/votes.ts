import { count, definePipeline, text } from 'rekap';

export default definePipeline({
  table: 'votes',
  title: 'Votes',
  comment:
    'Votes by regency: an object per province, with the codes of its regencies as names. A region abroad has the name null.',
  path: '/pemilu/hhcw/ppwp/{province}.json',
  partition: { parameter: 'province', column: 'province', values: { from: 'pipeline', column: 'provinces.code' } },
  records: '/table',
  columns: {
    province: text('province', 'Code of the province.', { from: 'request' }),
    region: text('region', 'Code of the regency.', { from: 'name' }),
    first: count('100025', 'Votes for the first pair.', { nullable: true }),
    second: count('100026', 'Votes for the second pair.', { nullable: true }),
    third: count('100027', 'Votes for the third pair.', { nullable: true }),
    progress: text('persen', 'Per cent of the polling stations that reported.', { from: 'any', nullable: true }),
  },
  key: ['province', 'region'],
});
