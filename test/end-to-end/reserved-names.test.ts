/** Names that JavaScript's own objects have are names like any other, wherever they come from. */

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { readSheet } from 'read-excel-file/node';
import { describe, expect, it } from 'vitest';
import { voters } from '../support/bundled.ts';
import { preparedWarehouse } from '../support/prepared-warehouse.ts';
import { runHere } from '../support/run-here.ts';
import { runSync, serveData, smallNation } from '../support/served-source.ts';
import { syncOptions } from '../support/sync-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { ask, expectProblem, start } from '../serve/support.ts';

const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];

/** The rows of a source whose regencies have these names, and whose records have fields of these names. */
const nation = preparedWarehouse(async (warehouse) => {
  const data = smallNation({ 1101: names.length });
  for (const records of Object.values(data))
    for (const [index, record] of records.entries()) {
      record['NamaKabupaten'] = names[index];
      for (const name of names) Object.defineProperty(record, name, { value: 'x', enumerable: true });
    }
  const { url } = await serveData(data);
  const { events } = await runSync(syncOptions(warehouse, url));
  return events.flatMap((event) => (event.kind === 'warning' ? [event.message] : [])).join('\n');
});

const struct = `{${names.map((name, index) => `'${name}': ${index}`).join(', ')}}`;
const columns = names.map((name, index) => `${index} AS "${name}"`).join(', ');
/** A column for each name, one of the names as texts, and a struct of them in a list. */
const sql = `SELECT ${columns}, [${struct}] AS structs, '__proto__' AS "text"`;
const numbers = names.map((name, index) => [name, index] as const);
const structText = `[{${names.map((name, index) => `"${name}":${index}`).join(',')}}]`;

async function query(...words: string[]) {
  const { warehouse } = await nation();
  return runHere(['query', sql, '--warehouse', warehouse, ...words]);
}

describe('a query for columns, entries and texts of these names', () => {
  it('gives JSON', async () => {
    const [row] = JSON.parse((await query('--format', 'json')).stdout) as [Record<string, unknown>];
    expect(Object.entries(row).slice(0, names.length)).toEqual(numbers);
    expect(JSON.stringify(row['structs'])).toBe(structText);
    expect(row['text']).toBe('__proto__');
  });

  it('gives CSV', async () => {
    const cell = `"${structText.replaceAll('"', '""')}"`;
    expect((await query('--format', 'csv')).stdout).toBe(
      `${names.join(',')},structs,text\n${numbers.map(([, index]) => index).join(',')},${cell},__proto__\n`,
    );
  });

  it.each(['table', 'markdown'])('gives a %s', async (format) => {
    const { stdout, code } = await query('--format', format);
    expect(code).toBe(0);
    for (const text of [...names, structText]) expect(stdout.replaceAll('\\', '')).toContain(text);
  });

  it('gives Parquet', async () => {
    const folder = await temporaryFolder();
    const parquet = join(folder, 'x.parquet');
    await query('--out', parquet);
    const file = new Uint8Array(await readFile(parquet)).buffer;
    const [row] = await parquetReadObjects({ file, compressors, columns: names.slice(1) });
    expect(Object.entries(row!)).toEqual(numbers.slice(1));
  });

  it('keeps apart two columns of one name', async () => {
    const { warehouse } = await nation();
    const twice = 'SELECT 1 AS constructor, 2 AS constructor, 3 AS __proto__, 4 AS __proto__';
    const { stdout } = await runHere(['query', twice, '--format', 'csv', '--warehouse', warehouse]);
    expect(stdout).toBe('constructor,constructor:1,__proto__,__proto__:1\n1,2,3,4\n');
  });
});

describe.each(names)('%s', (name) => {
  it('is a parameter of a query, and missing where it is not given', async () => {
    const { warehouse } = await nation();
    const words = ['query', `SELECT $${name} AS v`, '--format', 'csv', '--warehouse', warehouse];
    expect((await runHere([...words, '--param', `${name}=5`])).stdout).toBe('v\n5\n');
    expect(await runHere(words)).toMatchObject({ code: 2, stderr: expect.stringContaining(`parameter $${name}`) });
  });

  it('is no option, neither on the command line nor in a config file', async () => {
    const file = join(await temporaryFolder(), 'rekap.json');
    await writeFile(file, `{"${name}": 1}`);
    for (const words of [
      [`--${name}`, '1'],
      ['--config', file],
    ]) {
      const { code, stderr } = await query(...words);
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(name) });
    }
  });

  it('is no parameter of the service', async () => {
    const answer = await ask(await start(), `${voters.path}?${name}=1`);
    expect((await expectProblem(answer, 400)).parameter).toBe(name);
  });

  it('is no fault', async () => {
    const { code, stderr } = await runHere(['serve', '--sample', '--faults', name]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(`"${name}"`) });
  });
});

describe('records of a source', () => {
  it('keep these names in their texts, and have fields of these names reported', async () => {
    const { warehouse, known } = await nation();
    for (const name of names) expect(known).toContain(`"${name}"`);
    const words = ['query', 'SELECT regency FROM voters ORDER BY ALL', '--format', 'csv', '--warehouse', warehouse];
    expect((await runHere(words)).stdout).toBe(`regency\n${names.toSorted().join('\n')}\n`);
  });

  it('become a workbook that can be opened', async () => {
    const { warehouse } = await nation();
    const into = join(await temporaryFolder(), 'out');
    const { stdout } = await runHere(['export', '--out', into, '--warehouse', warehouse]);
    const [head, ...rows] = await readSheet(stdout.trim(), 'voters');
    expect(rows.map((row) => String(row[head!.indexOf('regency')])).toSorted()).toEqual(names.toSorted());
  });
});
