/** Whatever a source writes into names, counts, field names and `count` stays data: it arrives as it was sent, and nothing acts on it. */

import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tmpdir } from 'node:os';
import { stripVTControlCharacters } from 'node:util';
import { createProgress } from '../../src/cli/print/progress.ts';
import { openDatabase } from '../../src/runtime/database.ts';
import { manualClock } from '../../src/testing/manual-clock.ts';
import { exported } from '../load/support.ts';
import { readRows } from '../support/read-table.ts';
import type { CliResult } from '../support/run-cli.ts';
import { runHere } from '../support/run-here.ts';
import { smallNation } from '../support/served-source.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { openTwistedSource, startTwistedSource, type Twist } from '../support/twisted-source.ts';

const esc = '\u001b';
const long = 'PANJANG '.repeat(125_000);
/** By what they attack. */
const names = {
  sql: `'; DROP TABLE voters; --`,
  identifier: '"voters"',
  dollars: '$$ $1 ${process.exit(9)} `id`',
  path: '../../../../etc/passwd',
  absolute: '/etc/passwd',
  windows: '..\\..\\CON:',
  nul: 'ACEH\0BARAT',
  controls: '\u0001\b\u007f\u009b2J\u0085',
  lines: 'ACEH\nrekap: all is well\r\nBARAT\u2028\u2029',
  ansi: `${esc}[2J${esc}]0;title\u0007${esc}[31mred`,
  bidi: 'ACEH \u202etARAB\u202c \u2066\u200f\u061c',
  hidden: '\u200b\u00ad\ufeff\u{e0041}',
  formula: `=cmd|' /C calc'!A0`,
  formulaBehindSemicolon: 'ACEH;=1+1',
  fullWidth: '＝1+1',
  csv: 'a,"b"',
  html: '<script>alert(1)</script>&amp;',
  format: '%s%n%x {0} {{x}}',
  prototype: '__proto__',
  glob: '*.parquet',
  unicode: `${'e\u0301'.repeat(500)}${'\u0489'.repeat(500)}漢字${'👩‍👩‍👧‍👦'.repeat(100)}`,
  beyondUnicode: '\u{10ffff}\ufffe',
};
const hostile = Object.values(names);
/** Half a surrogate pair has no form in UTF-8. */
const halves = ['\ud800', 'a\udc00', '\ud83db'];

let folder: string;
let warehouse: string;
let synced: CliResult;

/** Everything that steers a terminal, or hides or turns what it shows; a line break is rekap's own. */
const steering = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u;

function expectPrintable(text: string): void {
  expect(steering.exec(text.replaceAll('\n', ''))).toBeNull();
}

/** A nation whose regencies have hostile names, and hostile counts and fields besides. */
const nation = smallNation({ 1101: hostile.length, 1102: halves.length, 1103: 3 });
for (const records of Object.values(nation)) {
  for (const [index, record] of records.entries()) {
    const name = [...hostile, ...halves][index];
    if (name === undefined) continue;
    if (records === nation.datahakpilihdpr && halves.includes(name)) record['NamaDapil'] = name;
    else {
      record['NamaKabupaten'] = name;
      record['NamaProvinsi'] = name;
    }
    record[name] = name;
  }
  // The last partition has several names, one of them 1 MB long. One of its records can't be in a table.
  records.at(-2)!['NamaDapil'] = names.ansi;
}
nation.datahakpilihdpr.at(-3)!['NamaDapil'] = long;
for (const [index, name] of hostile.entries()) nation.datapemilihdpr[index]!['JumlahSeluruhPemilih'] = name;
const quarantined = { ...nation.datapemilihdpr.at(-1)!, NamaKabupaten: null, NamaProvinsi: names.bidi };
nation.datapemilihdpr.push(quarantined);

const honest: Twist = (response, body) => response.end(body);
const query = (...words: string[]): Promise<CliResult> => runHere(['query', ...words, '--warehouse', warehouse]);
const sqlOfNames = 'SELECT regency AS name FROM voters WHERE dapil_id = 1101';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rekap-hostile-'));
  warehouse = join(folder, 'warehouse');
  const { url, close } = await openTwistedSource(nation, honest);
  synced = await runHere(['sync', '--base-url', url, '--warehouse', warehouse], { REKAP_API_KEY: 'a-key-for-this' });
  await close();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('a sync', () => {
  it('publishes every record, and says so without a character that steers the terminal', () => {
    expect(synced.code, synced.stderr).toBe(0);
    expectPrintable(synced.stdout + synced.stderr);
    expect(synced.stdout.length + synced.stderr.length).toBeLessThan(40_000);
    expect(synced.stdout).toContain('Published snapshot');
    expect(synced.stderr).toContain('the source sends unknown fields');
    // A line of the source's does not become one of ours.
    expect(synced.stdout + synced.stderr).not.toMatch(/^rekap: all is well/m);
  });

  it('writes the names into tables as they were sent', async () => {
    const found = await readRows<{ regency: string; province: string }>(
      warehouse,
      'SELECT regency, province FROM voters WHERE dapil_id IN (1101, 1102)',
    );
    expect(found.map(({ regency }) => regency).toSorted()).toEqual(hostile.toSorted());
    expect(found.every(({ regency, province }) => regency === province)).toBe(true);
    const [whole] = await readRows<{ name: string }>(
      warehouse,
      'SELECT dapil_name AS name FROM voting_rights_users ORDER BY length(dapil_name) DESC LIMIT 1',
    );
    expect(whole!.name).toBe(long);
  });

  it('names hostile counts in violations, and keeps the record that has no place', async () => {
    const raw = await readRows<{ raw: string }>(
      warehouse,
      "SELECT raw_value AS raw FROM violations WHERE dataset = 'voters' AND column_name = 'grand_total' AND check_name = 'malformed'",
    );
    expect(raw.map((row) => row.raw).toSorted()).toEqual(hostile.toSorted());
    const records = await readRows<{ record: string }>(
      warehouse,
      "SELECT record FROM quarantine WHERE reason = 'NamaKabupaten is null'",
    );
    expect(records.map(({ record }) => JSON.parse(record) as unknown)).toEqual([quarantined]);
  });

  it('publishes no half of a surrogate pair: a key is in quarantine, and another text is malformed', async () => {
    const keys = await readRows<{ record: string }>(
      warehouse,
      "SELECT record FROM quarantine WHERE reason LIKE '% is not valid text'",
    );
    const quoted = keys.map(({ record }) => (JSON.parse(record) as { NamaKabupaten: string }).NamaKabupaten);
    expect(quoted.toSorted()).toEqual(halves.toSorted());
    const texts = await readRows<{ raw: string }>(
      warehouse,
      `SELECT raw_value AS raw FROM voting_rights_users JOIN violations v USING (dapil_id, regency)
       WHERE dapil_name IS NULL AND v.dataset = 'voting_rights_users' AND column_name = 'dapil_name'
         AND check_name = 'malformed'`,
    );
    expect(texts.map(({ raw }) => raw).toSorted()).toEqual(halves.map((half) => JSON.stringify(half)).toSorted());
  });

  it('makes no file but its own', async () => {
    expect((await readdir(folder)).toSorted()).toEqual(['warehouse']);
    const snapshot = join(warehouse, 'current');
    expect((await readdir(snapshot)).toSorted()).toEqual([
      'datapackage.json',
      'dbt',
      'manifest.json',
      'manifest.json.sha256',
      'parquet',
      'rekap.duckdb',
      'report.html',
    ]);
    expect((await readdir(join(snapshot, 'parquet'))).toSorted()).toEqual(exported.toSorted());
  });

  it.each([
    ['a text', names.ansi],
    ['an object', { [names.bidi]: names.ansi }],
  ])('is not led astray by a count that is %s', async (_, count) => {
    const twist: Twist = (response, body) =>
      response.end(JSON.stringify({ ...(JSON.parse(body) as object), count, [names.ansi]: names.bidi }));
    const { url } = await startTwistedSource(smallNation({ 1101: 2 }), twist);
    const own = await temporaryFolder();
    const words = ['sync', '--dry-run', '--base-url', url, '--warehouse', own];
    const result = await runHere(words, { REKAP_API_KEY: 'a-key-for-this' });
    expect([0, 4]).toContain(result.code);
    expectPrintable(result.stdout + result.stderr);
  });
});

describe('rekap query', () => {
  it('shows names in a table without letting them steer the terminal, each on one line', async () => {
    const { stdout } = await query(sqlOfNames);
    expectPrintable(stdout);
    expect(stdout.trimEnd().split('\n')).toHaveLength(hostile.length + 2);
    expect(stdout).toContain('\\u001b[2J');
    const wide = await query('SELECT dapil_name, 1 AS "a\u001b[31mb" FROM voting_rights_users WHERE dapil_id = 1103');
    expectPrintable(wide.stdout);
    expect(wide.stdout.length).toBeLessThan(10_000);
  });

  it('gives the same texts as JSON and Parquet', async () => {
    const { stdout } = await query(sqlOfNames, '--format', 'json');
    expectPrintable(stdout);
    expect((JSON.parse(stdout) as { name: string }[]).map(({ name }) => name).toSorted()).toEqual(hostile.toSorted());

    const outside = await temporaryFolder();
    const parquet = join(outside, 'names.parquet');
    await query(sqlOfNames, '--format', 'parquet', '--out', parquet);
    const memory = await openDatabase(':memory:');
    const rows = await memory.rows<{ name: string }>(`FROM read_parquet('${parquet}')`);
    memory.close();
    expect(rows.map(({ name }) => name).toSorted()).toEqual(hostile.toSorted());
  });

  it('gives the same texts as CSV, but that a spreadsheet would run none', async () => {
    const { stdout } = await query(
      `${sqlOfNames} AND regency IN ('${names.fullWidth}', '${names.html}')`,
      '--format',
      'csv',
    );
    expect(stdout.split('\n').toSorted()).toEqual(['', `'${names.fullWidth}`, names.html, 'name'].toSorted());
    const all = await query('FROM voters', '--format', 'csv');
    expect(all.stdout).not.toMatch(/(^|[,;\n])"?[=＝]/);
  });
});

it('rekap snapshots current and its warnings are fit to print', async () => {
  const { stdout, code } = await runHere(['snapshots', 'current', '--warehouse', warehouse]);
  expect(code).toBe(0);
  expect(stdout).toContain('Warnings:');
  expectPrintable(stdout);
  expectPrintable((await runHere(['snapshots', 'current', '--warehouse', warehouse, '--json'])).stdout);
});

it('progress on a terminal prints a warning without what steers it', () => {
  let written = '';
  const stream = { isTTY: true, columns: 80, write: (text: string) => ((written += text), true) };
  const progress = createProgress(stream as unknown as NodeJS.WriteStream, manualClock());
  progress.report({ kind: 'warning', message: hostile.join(' ') });
  progress.end();
  expect(written).toContain('\\u001b[2J');
  // The progress line ends with what clears it.
  expectPrintable(stripVTControlCharacters(written).replaceAll('\r', ''));
});
