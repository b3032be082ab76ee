/** A published warehouse, served and synced again, gives the same tables: the round trip of a mirror. */

import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ApiKeys } from '../../src/serve/api-keys.ts';
import { startService } from '../../src/serve/service.ts';
import { openWarehouseSource } from '../../src/serve/warehouse-source.ts';
import { readRows } from '../support/read-table.ts';
import { runSync, serveData, serveFolder, smallNation } from '../support/served-source.ts';
import { project, syncOptions, testKey } from '../support/sync-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

async function serveMirror(warehouse: string): Promise<string> {
  const source = await openWarehouseSource(warehouse, project.pipelines);
  const service = await startService({
    pipelines: project.pipelines,
    source,
    keys: new ApiKeys([testKey]),
    host: '127.0.0.1',
    port: 0,
    maxLimit: 1000,
  });
  onTestFinished(async () => {
    await service.close();
    await source.close();
  });
  return service.url;
}

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
    await runSync(syncOptions(copy, await serveMirror(original)));
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
