/** What `rekap diff` prints: every record by itself, even where two names look alike once they are safe to print. */

import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { alterFile } from '../support/alter-file.ts';
import { runHere } from '../support/run-here.ts';
import { runSync, serveData, smallNation } from '../support/served-source.ts';
import { syncOptions } from '../support/sync-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const accepted = { acceptChanges: true, acceptSource: true };

describe('rekap diff', () => {
  it('counts and shows two records whose names are printed alike as two, without empty lines between', async () => {
    const warehouse = await temporaryFolder();
    const before = await serveData(smallNation({ 1101: 3 }));
    await runSync(syncOptions(warehouse, before.url, accepted));
    const data = smallNation({ 1101: 3 });
    const [template] = data.datapemilihdpr;
    for (const name of ['A\0B', String.raw`A\u0000B`]) data.datapemilihdpr.push({ ...template!, NamaKabupaten: name });
    const after = await serveData(data);
    await runSync(syncOptions(warehouse, after.url, accepted));
    const { stdout, code } = await runHere(['diff', '--warehouse', warehouse], { FORCE_COLOR: '1' });
    expect(code).toBe(0);
    expect(stdout).toContain('0 changed, 2 added, 0 removed');
    expect(stripVTControlCharacters(stdout).match(/^(Changed|Added|Removed)$/gm)).toEqual(['Added']);
    expect(stdout.match(/A\\u0000B, /g)).toHaveLength(2);
    expect(stdout.match(/dapil_name/g)).toHaveLength(2);
    // One before the heading, and one after the last line break.
    const empty = stripVTControlCharacters(stdout)
      .split('\n')
      .filter((line) => line.trim() === '');
    expect(empty).toHaveLength(2);
    const asJson = await runHere(['diff', '--json', '--warehouse', warehouse]);
    const regencies = (JSON.parse(asJson.stdout) as { regency: string }[]).map(({ regency }) => regency);
    expect(new Set(regencies)).toEqual(new Set(['A\0B', String.raw`A\u0000B`]));
  });

  it('of a snapshot whose DuckDB file is damaged names both, and what finds out which', async () => {
    const warehouse = await temporaryFolder();
    const ids: string[] = [];
    for (const size of [3, 4])
      ids.push(
        (await runSync(syncOptions(warehouse, (await serveData(smallNation({ 1101: size }))).url, accepted))).run,
      );
    // Behind the header, in the first block of the catalog.
    await alterFile(join(warehouse, 'snapshots', ids[0]!, 'rekap.duckdb'), (bytes) =>
      bytes.fill(0xa5, 3 * 4096, 4 * 4096),
    );
    const { code, stderr } = await runHere(['diff', '--warehouse', warehouse]);
    expect(code).toBe(2);
    for (const id of ids) expect(stderr).toContain(`"rekap snapshots verify ${id} --warehouse ${warehouse}"`);
    expect(stderr).not.toContain('fault in rekap');
  });
});
