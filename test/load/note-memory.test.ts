/** A load completes in bounded memory, however large its violations and quarantined records are. */

import { expect, it } from 'vitest';
import { Load } from '../../src/load/load.ts';
import type { CarryOver } from '../../src/load/previous-tables.ts';
import type { Batch, Violation } from '../../src/stages.ts';
import { Transformer } from '../../src/transform/transformer.ts';
import { ask, makeFolder, project as bundled, published } from './support.ts';

/** Without checks across tables, which these records don't concern. */
const project = { ...bundled, models: [], checks: [] };
const [voters] = project.pipelines;
const text = 'x'.repeat(4_000_000);
const notes = 13;

/** Loads violations and quarantined records, but no rows. */
async function loadNotes(
  found: Partial<Pick<Batch, 'violations' | 'quarantined'>>,
  carried: { readonly carryOver: CarryOver; readonly previous: string } | null = null,
): Promise<string> {
  const folder = await makeFolder();
  const { signal } = new AbortController();
  const files = { folder, databaseFile: 'rekap.duckdb', previous: carried?.previous ?? null };
  const load = await Load.begin({ ...files, project, signal });
  try {
    load.append(voters!, { ...new Transformer(voters!).finish(), ...found });
    const log = { snapshot: '20261120T030002Z-000001', publishedAt: published, source: 'sample' };
    await load.finish(carried?.carryOver ?? new Map(), log, carried?.previous ?? null);
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

/** Violations of a value that isn't a number. */
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

it('keeps more megabytes of quarantined records and malformed values than DuckDB may use, and carries them over', async () => {
  const first = await loadNotes({ quarantined, violations: malformed(text) });
  expect(await ask(first, countRecords)).toEqual(whole);
  expect(await ask(first, 'SELECT count(*) AS n FROM violations WHERE strlen(raw_value) = 4000000')).toEqual([
    { n: BigInt(notes) },
  ]);
  const second = await loadNotes({}, { carryOver: new Map([['voters', { outside: [] }]]), previous: first });
  expect(await ask(second, countRecords)).toEqual(whole);
});

it('keeps a single record as long as a response may be', async () => {
  const record = 'x'.repeat(60 * 1024 * 1024);
  const file = await loadNotes({ quarantined: [{ ...quarantined[0]!, record }] });
  expect(await ask(file, countRecords)).toEqual([{ records: 1n, bytes: BigInt(record.length) }]);
});
