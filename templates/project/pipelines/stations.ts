import { count, definePipeline, integer, list, sum, text } from 'rekap';

export default definePipeline({
  table: 'stations',
  title: 'Polling stations',
  comment: 'Results by polling station.',
  path: '/v1/stations',
  partition: { parameter: 'region', column: 'region', values: list(['AA-1', 'AA-2', 'AA-3']) },
  columns: {
    region: text('region', 'Code of the region.'),
    station: integer('station', 'Number of the station in its region.'),
    building: text('building', 'Name of the building.', { nullable: true }),
    valid: count('valid', 'Valid votes.'),
    invalid: count('invalid', 'Invalid votes.'),
    ballots: count('ballots', 'Ballots cast.'),
  },
  key: ['region', 'station'],
  watch: ['ballots'],
  checks: [sum('ballots', ['valid', 'invalid'])],
});
