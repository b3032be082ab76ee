/** Where there is much to note of a source, the load comes to its end: memory follows what violations and quarantine hold, within bounds. */

import { expect, it } from 'vitest';
import { Load } from '../../src/load/load.ts';
import type { CarryOver } from '../../src/load/previous-tables.ts';
import type { Batch, Violation } from '../../src/stages.ts';
import { Transformer } from '../../src/transform/transformer.ts';
import { ask, makeFolder, project, published } from './support.ts';

const [voters] = project.pipelines;
const text = 'x'.repeat(4_000_000);
const notes = 25;

/** Loads no row, but what a source's faults leave behind. */
async function loadNotes(
  found: Partial<Pick<Batch, 'violations' | 'quarantined'>>,
  carried: { readonly carryOver: CarryOver; readonly previous: string } | null = null,
): Promise<string> {
  const folder = await makeFolder();
  const { signal } = new AbortController();
  const load = await Load.begin({ folder, databaseFile: 'rekap.duckdb', project, signal });
  try {
    load.append(voters!, { ...new Transformer(voters!).finish(), ...found });
    const log = { snapshot: '20261120T030002Z-000001', publishedAt: published, source: 'sample' };
    await load.finish(carried?.carryOver ?? null, log, carried?.previous ?? null);
  } catch (error) {
    load.abandon();
    throw error;
  }
  return `${folder}/rekap.duckdb`;
}

const quarantined = Array.from({ length: notes }, (_, place) => ({
  dataset: 'voters',
  reason: 'not an object',
  record: JSON.stringify(`${place} ${text}`),
  partition: '1101',
  request: '/api/datapemilihdpr?id_dapil=1101&limit=100&offset=0',
}));

const whole = [
  { records: BigInt(notes), bytes: BigInt(quarantined.reduce((sum, { record }) => sum + record.length, 0)) },
];
const countRecords = 'SELECT count(DISTINCT record) AS records, sum(strlen(record))::BIGINT AS bytes FROM quarantine';

/** As many violations as there are notes, of values that are no numbers. */
function malformed(raw: string): Violation[] {
  return Array.from({ length: notes }, (_, place) => ({
    dataset: 'voters',
    place: { election_year: 2024, election_type: 'DPR-RI', dapil_id: 1101, regency: `R${place}` },
    check_name: 'malformed',
    severity: 'error',
    column_name: 'dpt_male',
    raw_value: raw,
    expected: null,
    actual: null,
    message: `JumlahPemilihLakiLakiDalamDPT is ${raw}, which is not a whole number`,
  }));
}

it('keeps a hundred megabytes of quarantined records, and carries them over', async () => {
  const first = await loadNotes({ quarantined });
  expect(await ask(first, countRecords)).toEqual(whole);
  const second = await loadNotes({}, { carryOver: { replaced: new Map([['voters', []]]) }, previous: first });
  expect(await ask(second, countRecords)).toEqual(whole);
});

it('keeps a single record as long as an answer may be', async () => {
  const record = 'x'.repeat(60 * 1024 * 1024);
  const file = await loadNotes({ quarantined: [{ ...quarantined[0]!, record }] });
  expect(await ask(file, countRecords)).toEqual([{ records: 1n, bytes: BigInt(record.length) }]);
});

it('keeps a hundred megabytes of values that are no numbers', async () => {
  const violations = malformed(text);
  const file = await loadNotes({ violations });
  expect(await ask(file, 'SELECT count(*) AS n FROM violations WHERE strlen(raw_value) = 4000000')).toEqual([
    { n: BigInt(notes) },
  ]);
});
