import { count, definePipeline, integer, sum, text } from 'rekap';

export default definePipeline({
  table: 'residents',
  title: 'Residents',
  comment: 'Residents by district of the city.',
  path: '/api/3/action/datastore_search',
  parameters: { resource_id: '4f1c9f3e-5c0b-4c8f-9d39-0d6a5b6a2c11', sort: '_id' },
  columns: {
    id: integer('_id', 'Number of the row.'),
    district: text('kecamatan', 'District.'),
    male: count('laki_laki', 'Men.'),
    female: count('perempuan', 'Women.'),
    residents: count('jumlah', 'All residents.'),
  },
  key: ['id'],
  watch: ['residents'],
  checks: [sum('residents', ['male', 'female'])],
});
