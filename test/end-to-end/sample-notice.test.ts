/** Figures of the sample are marked wherever they leave; those of a source are not. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sampleWarehouse } from '../support/prepared-warehouse.ts';
import { publishedNation } from '../support/prepared-snapshots.ts';
import { runHere } from '../support/run-here.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const withSource = publishedNation();

const notice = 'The sample figures are made up.\n';
const csv = ['query', 'SELECT 1 AS n', '--format', 'csv'];

describe('a figure of the sample', () => {
  it.each(['csv', 'json', 'markdown'])('is marked on stderr as %s, which stays a document', async (format) => {
    const { warehouse } = await sampleWarehouse();
    const { stdout, stderr } = await runHere(['query', 'SELECT 1 AS n', '--format', format, '--warehouse', warehouse]);
    expect(stderr).toBe(notice);
    expect(stdout).not.toContain('made up');
  });

  it('is marked as evidence, in the language of the text and in JSON', async () => {
    const { warehouse } = await sampleWarehouse();
    const ask = async (...words: string[]) =>
      (await runHere(['evidence', 'OGAN ILIR', ...words, '--warehouse', warehouse])).stdout;
    expect(await ask()).toMatch(new RegExp(`\n${notice}$`));
    expect(await ask('--lang', 'id')).toMatch(/\nAngka dalam data contoh ini bukan data sebenarnya\.\n$/);
    for (const one of JSON.parse(await ask('--json')) as { notice: string }[]) expect(one.notice).toBe(notice.trim());
  });

  it.each(['csv', 'parquet'])('is marked beside an export as %s', async (format) => {
    const { warehouse } = await sampleWarehouse();
    const folder = await temporaryFolder();
    const words = ['export', '--format', format, '--out', folder, '--warehouse', warehouse];
    const { stdout, stderr } = await runHere(words);
    expect(stderr).toContain(notice);
    const about = await readFile(join(folder, 'ABOUT.txt'), 'utf8');
    expect(about).toContain(`Notice: ${notice}`);
    for (const file of stdout.trim().split('\n').slice(1))
      expect(about).toContain(`\n${file.slice(folder.length + 1)}: `);
  });

  it('is marked in a difference', async () => {
    const { warehouse } = await sampleWarehouse();
    const [{ id }] = JSON.parse((await runHere(['snapshots', '--json', '--warehouse', warehouse])).stdout) as [
      { id: string },
    ];
    const diff = ['diff', id, id, '--warehouse', warehouse];
    expect((await runHere(diff)).stdout).toContain(`\n${notice}`);
    expect((await runHere([...diff, '--format', 'csv'])).stderr).toBe(notice);
  });
});

describe('a figure of a source', () => {
  it('is not marked', async () => {
    const { warehouse } = await withSource();
    const folder = await temporaryFolder();
    expect((await runHere([...csv, '--warehouse', warehouse])).stderr).toBe('');
    const evidence = await runHere(['evidence', 'KOTA 1101-0', '--json', '--warehouse', warehouse]);
    expect(JSON.parse(evidence.stdout)).toMatchObject([{ notice: null }, { notice: null }]);
    await runHere(['export', '--format', 'csv', '--out', folder, '--warehouse', warehouse]);
    expect(await readFile(join(folder, 'ABOUT.txt'), 'utf8')).toMatch(/^Snapshot: /);
  });
});
