/** A published warehouse, served and synced again, gives the same tables: the round trip of a mirror. */

import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openWarehouseSource } from '../../src/serve/warehouse-source.ts';
import { readRows } from '../support/read-table.ts';
import { runSync, serveData, serveFolder, serveSource, smallNation } from '../support/served-source.ts';
import { project, syncOptions } from '../support/sync-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const tables = ['voters', 'voting_rights_users', 'violations'];

describe('a mirror', () => {
  it.each([
    ['the sample', () => serveFolder(project.sampleFolder)],
    [
      'a source with every kind of doubtful value',
      () => {
        const data = smallNation({ 1101: 4, 1102: 12 });
        const [first, second, third, fourth] = data.datapemilihdpr as [
          Record<string, unknown>,
          Record<string, unknown>,
          Record<string, unknown>,
          Record<string, unknown>,
        ];
        first['JumlahSeluruhPemilih'] = '';
        second['JumlahSeluruhPemilih'] = null;
        delete third['JumlahSeluruhPemilih'];
        fourth['JumlahSeluruhPemilih'] = '1.234';
        fourth['JumlahPemilihLakiLakiDalamDPT'] = 7;
        first['NamaDapil'] = null;
        data.datahakpilihdpr.push(
          { IdDapil: '1102', note: 'no key' },
          { ...data.datahakpilihdpr[5]!, JumlahSeluruhPenggunaHakPilih: '5' },
          { note: 'a footer' },
        );
        return serveData(data);
      },
    ],
  ])('of %s gives the same tables again', async (_name, serve) => {
    const [original, copy] = [await temporaryFolder(), await temporaryFolder()];
    await runSync(syncOptions(original, (await serve()).url));
    const mirror = await serveSource(await openWarehouseSource(original, project.pipelines));
    await runSync(syncOptions(copy, mirror.url));
    for (const table of tables) {
      const sql = `SELECT * FROM read_parquet('${join(original, 'current/parquet', table, `${table}.parquet`)}')`;
      const expected = await readRows(original, sql);
      expect(expected.length).toBeGreaterThan(0);
      expect(await readRows(copy, `FROM ${table}`)).toEqual(expected);
    }
    // Where in a page a quarantined record stood is the mirror's own.
    const quarantine = 'SELECT dataset, reason, record FROM quarantine ORDER BY ALL';
    expect(await readRows(copy, quarantine)).toEqual(await readRows(original, quarantine));
  });
});
