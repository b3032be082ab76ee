import { count, definePipeline, integer, sum, text } from 'rekap';

export default definePipeline({
  table: 'stations',
  title: 'Polling stations',
  comment: 'Results by polling station.',
  path: '/v1/stations',
  partition: { parameter: 'region', column: 'region' },
  columns: {
    region: text('region', 'Code of the region.'),
    station: integer('station', 'Number of the station in its region.'),
    building: text('building', 'Name of the building.', { nullable: true }),
    valid: count('valid', 'Valid votes.'),
    invalid: count('invalid', 'Invalid votes.'),
    cast: count('cast', 'All votes cast.'),
  },
  key: ['region', 'station'],
  watch: ['cast'],
  checks: [sum('cast', ['valid', 'invalid'])],
});
