import { columnOf, count, definePipeline, integer, refersTo, text } from 'rekap';

export default definePipeline({
  table: 'stations',
  title: 'Stations',
  comment: 'Polling stations by region.',
  path: '/v1/stations',
  partition: { parameter: 'region', column: 'region', values: columnOf('regions.code') },
  columns: {
    region: text('region', 'Code of the region.'),
    number: integer('no', 'Number of the station.'),
    seats: count('seats', 'Seats in the room.'),
  },
  key: ['region', 'number'],
  checks: [refersTo('region', 'regions.code')],
});
