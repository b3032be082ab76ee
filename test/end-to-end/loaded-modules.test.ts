/** Help and version come at once: what a sync or the service needs is not loaded for them. */

import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { sampleWarehouse } from '../support/prepared-warehouse.ts';
import { cliPath } from '../support/run-cli.ts';

/** Runs before the command: tells at its end which files of packages were loaded, imported or required. */
const tell = `
  import { createRequire } from 'node:module';
  const { cache } = createRequire('file:///any.js');
  process.on('exit', () => {
    const { sharedObjects } = process.report.getReport();
    process.stderr.write(JSON.stringify([...Object.keys(cache), ...sharedObjects]));
  });`;

function loadedFor(...words: readonly string[]): string[] {
  const hook = `data:text/javascript,${encodeURIComponent(tell)}`;
  const { stderr } = spawnSync(process.execPath, ['--import', hook, cliPath, ...words], { encoding: 'utf8' });
  // A sync has a log before it.
  return JSON.parse(stderr.slice(stderr.lastIndexOf('\n') + 1)) as string[];
}

const heavy = /duckdb|apache-arrow|fastify|undici/;

it.each(['--help', '--version', 'sync --help', 'query --help', 'serve --help', 'snapshots --help'])(
  'rekap %s loads neither DuckDB nor Arrow, nor a client or server',
  (line) => {
    expect(loadedFor(...line.split(' ')).filter((path) => heavy.test(path))).toEqual([]);
  },
);

it('a sync without a bucket does not load its client', async () => {
  const { warehouse } = await sampleWarehouse();
  const loaded = loadedFor('sync', '--sample', '--dry-run', '--warehouse', warehouse);
  expect(loaded.filter((path) => /aws-sdk|smithy/.test(path))).toEqual([]);
});

it('a query is seen to load DuckDB', async () => {
  const { warehouse } = await sampleWarehouse();
  expect(loadedFor('query', 'SELECT 1', '--warehouse', warehouse).filter((path) => heavy.test(path))).not.toEqual([]);
});
