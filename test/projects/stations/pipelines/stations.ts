import { count, definePipeline, endpoint, integer, pattern, range, text } from 'rekap';

export default definePipeline({
  table: 'stations',
  title: 'Polling stations',
  comment: 'Polling stations by region.',
  path: '/v1/stations',
  partition: {
    parameter: 'region',
    column: 'region',
    values: endpoint('/v1/regions', 'code', { records: '/regions' }),
  },
  columns: {
    region: text('region', 'Code of the region.'),
    number: integer('no', 'Number of the station in its region.'),
    name: text('name', 'Name of the building.', { nullable: true }),
    seats: count('seats', 'Seats in the room.'),
  },
  key: ['region', 'number'],
  watch: ['seats'],
  checks: [range('number', { min: 1 }), pattern('region', '[A-Z]{2}-[0-9]+', { severity: 'warning' })],
});
