import { count, definePipeline, defineProject, text } from 'rekap';

const place = { district: text('IdDapil'), regency: text('NamaKabupaten') } as const;
const partition = { parameter: 'id_dapil', column: 'district' } as const;

export default defineProject({
  name: 'compare',
  baseUrl: 'http://127.0.0.1:18089',
  auth: { header: 'x-api-key' },
  paging: { by: 'offset', limit: 'limit', offset: 'offset' },
  records: '/data',
  pipelines: [
    definePipeline({
      table: 'voters',
      path: '/api/datapemilihdpr',
      partition,
      columns: { ...place, voters: count('JumlahSeluruhPemilih') },
      key: ['district', 'regency'],
    }),
    definePipeline({
      table: 'voting_rights_users',
      path: '/api/datahakpilihdpr',
      partition,
      columns: { ...place, users: count('JumlahSeluruhPenggunaHakPilih') },
      key: ['district', 'regency'],
    }),
  ],
});
