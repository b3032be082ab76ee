/** Each example syncs every record of its own source, and of a source with faults, in a few lines of declarations. */

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { sync } from '../../src/index.ts';
import { isRekapError } from '../../src/errors.ts';
import { openWarehouse } from '../../src/snapshots/open-warehouse.ts';
import type { FaultValues } from '../../src/serve/faults/fault-list.ts';
import { manualClock } from '../../src/testing/manual-clock.ts';
import { presetValues } from '../../src/serve/faults/fault-list.ts';
import { startSource } from '../../src/testing/start-source.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const root = join(import.meta.dirname, '../../examples');
const examples = readdirSync(root);

interface Example {
  readonly key: string;
  readonly select: string;
  /** The columns of `select` from a record of the sample. */
  readonly row: (record: Readonly<Record<string, unknown>>) => readonly unknown[];
}

const known: Readonly<Record<string, Example>> = {
  'polling-stations': {
    key: 'example-token',
    select: 'region, station, building, ballots FROM results',
    row: ({ region, station, building, ballots }) => [region, station, building, Number(ballots)],
  },
  payments: {
    key: 'example-key',
    select: 'id, payee, net, paid_on, final FROM payments',
    row: ({ id, payee, net, paidOn, final }) => [id, (payee as { name: string | null }).name, net, paidOn, final],
  },
  bps: {
    key: 'example-key',
    select: 'domain, id, title, unit FROM variables',
    row: ({ domain, var_id: id, title, unit }) => [domain, id, title, unit === '' ? null : unit],
  },
  ckan: {
    key: '',
    select: 'id, district, male, female, residents FROM residents',
    row: ({ _id: id, kecamatan, laki_laki: male, perempuan: female, jumlah }) => [
      id,
      kecamatan,
      ...[male, female, jumlah].map(Number),
    ],
  },
  sirekap: {
    key: '',
    select: 'province, region, first, progress FROM votes',
    row: ({ province, region, 100025: first, persen }) => [
      province,
      region,
      first ?? null,
      persen === null ? null : JSON.stringify(persen),
    ],
  },
  openfda: {
    key: 'example-key',
    select: "number, class, state, strftime(reported_on, '%Y%m%d') AS day FROM recalls",
    row: ({ recall_number: number, classification, state, report_date: day }) => [
      number,
      classification,
      state === '' ? null : state,
      day,
    ],
  },
  github: {
    key: 'example-token',
    select: 'number, title, author, labels FROM issues',
    row: ({ number, title, user, labels }) => [
      number,
      title,
      (user as { login: string } | null)?.login ?? null,
      JSON.stringify(labels),
    ],
  },
};

const { drift: _drift, ...hostile } = presetValues('hostile');
const faults: readonly (readonly [name: string, faults: FaultValues])[] = [
  ['a cap of 25', { clamp: 25 }],
  ['every fault', hostile],
];

async function startOwn(folder: string): Promise<string> {
  const child = spawn(process.execPath, ['source.js'], { cwd: folder, env: { PORT: '0' } });
  onTestFinished(() => void child.kill());
  const [printed] = (await once(child.stdout, 'data')) as [Buffer];
  return printed.toString().trim();
}

/** The records of the last file: others are lists of values. */
function sampleOf(folder: string): Readonly<Record<string, unknown>>[] {
  const file = readdirSync(join(folder, 'sample')).at(-1);
  return JSON.parse(readFileSync(join(folder, 'sample', file!), 'utf8')) as Readonly<Record<string, unknown>>[];
}

it('is known for every folder', () => {
  expect(Object.keys(known).toSorted()).toEqual(examples.toSorted());
});

describe.each(examples)('%s', (name) => {
  const project = join(root, name);
  const { key, select, row } = known[name]!;
  const sorted = (rows: readonly (readonly unknown[])[]) => rows.map((one) => JSON.stringify(one)).toSorted();
  const expected = sorted(sampleOf(project).map(row));
  const read = async (warehouse: string) =>
    sorted((await (await openWarehouse(warehouse)).query(`SELECT ${select}`)).map((one) => Object.values(one)));

  it('copies every record of its own source', async () => {
    const warehouse = await temporaryFolder();
    await sync({ project, baseUrl: await startOwn(project), apiKey: key, warehouse });
    expect(await read(warehouse)).toEqual(expected);
  });

  it.each(faults)('copies every record under %s, or refuses', async (what, values) => {
    const source = await startSource({ project, faults: values, seed: 3 });
    onTestFinished(() => source.close());
    const warehouse = await temporaryFolder();
    const options = { clock: manualClock(), timeout: 1000, maxAttempts: 12, maxDuration: Number.MAX_SAFE_INTEGER };
    const refusal = await sync({ project, baseUrl: source.url, apiKey: source.apiKey, warehouse, ...options }).then(
      () => null,
      (error: unknown) => error,
    );
    const isAllowed = refusal === null || (what === 'every fault' && isRekapError(refusal));
    expect(isAllowed, String(refusal)).toBe(true);
    expect(refusal === null ? await read(warehouse) : expected).toEqual(expected);
  });

  it('has a test that passes', async () => {
    const run = promisify(execFile)(process.execPath, ['--test'], { cwd: project });
    expect((await run).stdout).toMatch(/pass 1\n/);
  });
});
