/** A query of one row, compared with a bare Node process that opens the file and asks DuckDB. */

import { join } from 'node:path';
import { type Finding, formatDuration, median } from './finding.ts';
import { command, measureSyncInto, timeNode, withFolder } from './measure.ts';
import { startSource } from './source-server.ts';

const rounds = 9;
const sql = 'SELECT sum(grand_total) FROM voters';

const bareQuery = `
const { DuckDBInstance } = require('@duckdb/node-api');
(async () => {
  const instance = await DuckDBInstance.create(process.argv[1], { access_mode: 'READ_ONLY' });
  const connection = await instance.connect();
  console.log((await connection.runAndReadAll(process.argv[2])).getRowsJson());
})();`;

export async function benchQuery(): Promise<Finding[]> {
  const source = await startSource({ records: null, delay: 0 });
  try {
    return await withFolder(async (warehouse) => {
      await measureSyncInto(warehouse, source.url);
      const bare: number[] = [];
      const query: number[] = [];
      for (let round = 0; round < rounds; round += 1) {
        bare.push(await timeNode(['-e', bareQuery, join(warehouse, 'current', 'rekap.duckdb'), sql]));
        query.push(await timeNode([command, 'query', sql, '--warehouse', warehouse]));
      }
      return [
        {
          section: 'query',
          what: `one row, wall time, median of ${rounds}`,
          measured: median(query),
          against: median(bare),
          reference: 'for bare Node with DuckDB',
          target: { atMost: { must: 1.5, aim: 1.1 } },
          format: formatDuration,
        },
      ];
    });
  } finally {
    await source.stop();
  }
}
