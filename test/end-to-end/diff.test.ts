/** What `rekap diff` prints: every record by itself, even where two names look alike once they are safe to print. */

import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { alterFile } from '../support/alter-file.ts';
import { nation, preparedSnapshots, publishedNation } from '../support/prepared-snapshots.ts';
import { runHere } from '../support/run-here.ts';
import { runSync, serveData, smallNation } from '../support/served-source.ts';
import { bundledProject, project, syncOptions } from '../support/sync-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const published = publishedNation();
const prepared = preparedSnapshots(smallNation({ 1101: 20 }), smallNation({ 1101: 21 }));
const accepted = { acceptChanges: true, acceptSource: true };

describe('rekap diff', () => {
  it('counts and shows two records whose names are printed alike as two, without empty lines between', async () => {
    const { warehouse } = await published();
    const data = smallNation(nation);
    const [template] = data.datapemilihdpr;
    for (const name of ['A\0B', String.raw`A\u0000B`]) data.datapemilihdpr.push({ ...template!, NamaKabupaten: name });
    const after = await serveData(data);
    await runSync(syncOptions(warehouse, after.url, accepted));
    const { stdout, code } = await runHere(['diff', '--warehouse', warehouse], { FORCE_COLOR: '1' });
    expect(code).toBe(0);
    expect(stdout).toContain('0 changed, 2 added, 0 removed');
    expect(stripVTControlCharacters(stdout).match(/^(Changed|Added|Removed)\b/gm)).toEqual(['Added']);
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

  it('says since which snapshot each value stands, also where it was there before', async () => {
    const warehouse = await temporaryFolder();
    const ids: string[] = [];
    const field = 'NamaDapil';
    for (const [one, other] of [
      ['A', 'A'],
      ['B', 'A'],
      ['A', 'C'],
      ['B', 'C'],
    ] as const) {
      const data = smallNation({ 1101: 2 });
      data.datapemilihdpr[0]![field] = one;
      data.datapemilihdpr[1]![field] = other;
      ids.push((await runSync(syncOptions(warehouse, (await serveData(data)).url, accepted))).run);
    }
    const since = async (...words: string[]) => {
      const { stdout } = await runHere(['diff', ...words, '--json', '--warehouse', warehouse]);
      const rows = JSON.parse(stdout) as Record<'regency' | 'old_value' | 'new_value' | 'since', string>[];
      return rows.map((row) => [row.regency, row.old_value, row.new_value, ids.indexOf(row.since)]);
    };
    expect(await since(ids[0]!)).toEqual([
      ['KOTA 1101-0', 'A', 'B', 3],
      ['KOTA 1101-1', 'A', 'C', 2],
    ]);
    expect(await since(ids[0]!, ids[1]!)).toEqual([['KOTA 1101-0', 'A', 'B', 1]]);
    expect(await since()).toEqual([['KOTA 1101-0', 'A', 'B', 3]]);
    // Backwards the history of the earlier snapshot knows nothing that came later.
    expect(await since(ids[3]!, ids[0]!)).toEqual([
      ['KOTA 1101-0', 'B', 'A', -1],
      ['KOTA 1101-1', 'C', 'A', -1],
    ]);
  });

  it('of violations shows those that came and went, and none that stands, whatever is NULL in its place', async () => {
    const warehouse = await temporaryFolder();
    const sum = 'JumlahPemilihLakiLakiDanPerempuanDalamDPT';
    for (const broken of [
      [0, 1],
      [1, 2],
    ]) {
      const data = smallNation({ 1101: 3 });
      for (const index of broken) data.datapemilihdpr[index]![sum] = `${999 - index}`;
      // A violation of a whole partition, whose regency is NULL.
      data.datapemilihdpr[0]!['NamaDapil'] = 'ANOTHER NAME';
      await runSync(
        syncOptions(warehouse, (await serveData(data)).url, accepted),
        {},
        {
          ...project,
          checks: bundledProject.checks.filter(({ name }) => name === 'district_names'),
        },
      );
    }
    const { stdout } = await runHere(['diff', '--warehouse', warehouse]);
    const [, added, resolved] = /New violations: \d+\n([^]*)Resolved violations: \d+\n([^]*)/.exec(stdout)!;
    expect([added, resolved].map((text) => /^.*KOTA 1101-\d.*\n +dpt_sexes_sum/m.exec(text!)?.[0])).toEqual([
      expect.stringContaining('KOTA 1101-2'),
      expect.stringContaining('KOTA 1101-0'),
    ]);
    expect(stdout).not.toContain('district_names');
    const sql = "SELECT count(*)::INTEGER AS n FROM violations WHERE check_name = 'district_names' AND regency IS NULL";
    const standing = await runHere(['query', sql, '--json', '--warehouse', warehouse]);
    expect(JSON.parse(standing.stdout)).toEqual([{ n: 1 }]);
  });

  it('of a snapshot whose DuckDB file is damaged names both, and what finds out which', async () => {
    const { warehouse, known: ids } = await prepared();
    // Behind the header, in the first block of the catalog.
    await alterFile(join(warehouse, 'snapshots', ids[0], 'rekap.duckdb'), (bytes) =>
      bytes.fill(0xa5, 3 * 4096, 4 * 4096),
    );
    const { code, stderr } = await runHere(['diff', '--warehouse', warehouse]);
    expect(code).toBe(2);
    for (const id of ids) expect(stderr).toContain(`"rekap snapshots verify ${id} --warehouse ${warehouse}"`);
    expect(stderr).not.toContain('bug in rekap');
  });
});
