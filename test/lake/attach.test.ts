/** DuckDB reads the published files over HTTP, with the key in a secret, as docs/how-to/serve-the-data.md shows. */

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openWarehouseSource } from '../../src/serve/warehouse-source.ts';
import { runHere } from '../support/run-here.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { loadProject } from '../support/bundled.ts';
import { key, start } from '../serve/support.ts';
import { extensions } from './support.ts';
import { DuckDBInstance } from '@duckdb/node-api';

it.skipIf(!existsSync(extensions))('DuckDB attaches the file and reads Parquet, with the key only', async () => {
  const warehouse = join(await temporaryFolder(), 'warehouse');
  await runHere(['sync', '--sample', '--warehouse', warehouse]);
  const { pipelines } = loadProject();
  const source = await openWarehouseSource(warehouse, pipelines);
  onTestFinished(() => source.close());
  const { url } = await start({ pipelines, source, site: { published: { warehouse, snapshot: source.snapshot! } } });
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  onTestFinished(() => connection.closeSync());
  const rows = async (sql: string) => (await connection.runAndReadAll(sql)).getRowsJson();
  const files = readdirSync(extensions, { recursive: true, encoding: 'utf8' });
  const file = files.find((path) => path.endsWith('httpfs.duckdb_extension'))!;
  await connection.run(`LOAD '${join(extensions, file)}'`);
  const count = `SELECT count(*) FROM read_parquet('${url}/current/voters.parquet')`;
  await expect(rows(count)).rejects.toThrow(/HTTP/);
  await connection.run(
    `CREATE SECRET rekap (TYPE http, SCOPE '${url}/', EXTRA_HTTP_HEADERS MAP {'x-api-key': '${key}'})`,
  );
  expect(await rows(count)).toEqual([['514']]);
  await connection.run(`ATTACH '${url}/current/rekap.duckdb' AS rekap (READ_ONLY)`);
  expect(await rows('SELECT count(*) FROM rekap.voters')).toEqual([['514']]);
});
