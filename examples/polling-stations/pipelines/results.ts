import { count, definePipeline, endpoint, integer, range, sum, text } from 'rekap';

export default definePipeline({
  table: 'results',
  title: 'Results',
  comment: 'Ballots by polling station.',
  unit: 'ballots',
  path: '/v1/results',
  partition: {
    parameter: 'region',
    column: 'region',
    values: endpoint('/v1/regions', 'code', { records: '/regions' }),
  },
  columns: {
    region: text('region', 'Code of the region.'),
    station: integer('station', 'Number of the station in its region.'),
    building: text('building', 'Name of the building.', { nullable: true }),
    registered: count('registered', 'People on the register.'),
    party_a: count('partyA', 'Ballots for party A.'),
    party_b: count('partyB', 'Ballots for party B.'),
    valid: count('valid', 'Valid ballots.'),
    invalid: count('invalid', 'Invalid ballots.'),
    ballots: count('ballots', 'Ballots cast.'),
  },
  key: ['region', 'station'],
  watch: ['ballots'],
  checks: [
    sum('valid', ['party_a', 'party_b']),
    sum('ballots', ['valid', 'invalid']),
    range('station', { min: 1, severity: 'warning' }),
  ],
});
