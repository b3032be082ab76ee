/** A query's result goes into the file that was named, in the format that it names, and never into the warehouse. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, watch } from 'node:fs';
import { lstat, mkdir, readdir, readFile, readlink, rename, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join, relative } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { sampleWarehouse } from '../support/prepared-warehouse.ts';
import { cliPath } from '../support/run-cli.ts';
import { runHere } from '../support/run-here.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** A socket by this name, until the present test is over. */
async function listenAt(path: string): Promise<void> {
  const server = createServer().listen(path);
  onTestFinished(() => void server.close());
  await once(server, 'listening');
}

/** Every file below a folder with what it holds, and every link with where it leads. */
async function contentsOf(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => !entry.isDirectory());
  const contents = files.map(async (entry): Promise<[string, string]> => {
    const path = join(entry.parentPath, entry.name);
    return [relative(folder, path), entry.isSymbolicLink() ? await readlink(path) : await readFile(path, 'base64')];
  });
  return Object.fromEntries(await Promise.all(contents));
}

describe('a query into a file of the warehouse', () => {
  it('is refused and alters nothing', async () => {
    const { warehouse } = await sampleWarehouse();
    const before = await contentsOf(warehouse);
    for (const name of ['current', 'current/rekap.duckdb', 'new.parquet', 'snapshots/../landing/new.csv', '.'])
      for (const format of ['parquet', 'csv']) {
        const out = `${warehouse}/${name}`;
        const words = ['query', 'FROM voters', '--format', format, '--out', out, '--warehouse', warehouse];
        const { code, stderr } = await runHere(words);
        expect(stderr).toContain(`${out} is in the warehouse ${warehouse}, and a query never writes to the warehouse.`);
        expect(code).toBe(2);
      }
    expect(await contentsOf(warehouse)).toEqual(before);
  });

  it('is refused whichever links lead to it, or from it', async () => {
    const { warehouse } = await sampleWarehouse();
    const outside = await temporaryFolder();
    await symlink(warehouse, join(outside, 'warehouse'));
    await symlink(join(warehouse, 'current', 'parquet', 'voters'), join(outside, 'folder'));
    await symlink(join(warehouse, 'runs.jsonl'), join(outside, 'file.csv'));
    await symlink(join(outside, 'elsewhere.csv'), join(warehouse, 'from-it.csv'));
    const before = await contentsOf(warehouse);
    const linked = join(outside, 'warehouse');
    for (const [out, named] of [
      [join(outside, 'folder', 'voters.parquet'), warehouse],
      [join(outside, 'file.csv'), warehouse],
      [join(warehouse, 'from-it.csv'), warehouse],
      [join(warehouse, 'new.csv'), linked],
      [join(linked, 'new.csv'), warehouse],
    ] as const) {
      const { code, stderr } = await runHere(['query', 'FROM voters', '--out', out, '--warehouse', named]);
      expect(stderr).toContain('a query never writes to the warehouse');
      expect(code).toBe(2);
    }
    expect(await contentsOf(warehouse)).toEqual(before);
    expect((await readdir(outside)).toSorted()).toEqual(['file.csv', 'folder', 'warehouse']);
  });

  it('is refused where the snapshots lie on another disk, by a link', async () => {
    const { warehouse } = await sampleWarehouse();
    const disk = join(await temporaryFolder(), 'snapshots');
    await rename(join(warehouse, 'snapshots'), disk);
    await symlink(disk, join(warehouse, 'snapshots'));
    const out = join(disk, 'new.csv');
    const { code } = await runHere(['query', 'SELECT 1', '--out', out, '--warehouse', warehouse]);
    expect(code).toBe(2);
    expect(await readdir(disk)).not.toContain('new.csv');
  });

  it('is not mistaken for one beside it', async () => {
    const folder = await temporaryFolder();
    const [warehouse, beside] = [join(folder, 'warehouse'), join(folder, 'warehouse-results')];
    await rename((await sampleWarehouse()).warehouse, warehouse);
    await mkdir(beside);
    const words = ['query', 'SELECT 1 AS n', '--format', 'csv', '--warehouse', warehouse];
    expect(await runHere([...words, '--out', join(beside, 'one.csv')])).toMatchObject({ code: 0 });
    expect(await readdir(beside)).toEqual(['one.csv']);
  });
});

describe('a query into a file', () => {
  /** What a query of two columns writes into a file of this name. */
  async function written(name: string, ...words: string[]): Promise<Buffer> {
    const out = join(await temporaryFolder(), name);
    const query = ['query', "SELECT 'ACEH' AS province, NULL AS n", '--out', out, ...words];
    const colours = { FORCE_COLOR: '1' };
    const result = await runHere([...query, '--warehouse', (await sampleWarehouse()).warehouse], colours);
    expect(result).toMatchObject({ code: 0, stdout: '' });
    expect(result.stderr).toContain(`1 row written to ${out}\n`);
    return readFile(out);
  }

  it.each([
    ['x.csv', 'province,n\nACEH,\n'],
    ['x.json', '[\n{"province":"ACEH","n":null}\n]\n'],
    ['x.parquet', 'PAR1'],
  ])('writes the format that its name ends in: %s', async (name, beginning) => {
    expect((await written(name)).subarray(0, beginning.length).toString()).toBe(beginning);
  });

  it('writes what a link leads to, and leaves the link', async () => {
    const { warehouse } = await sampleWarehouse();
    const folder = await temporaryFolder();
    const [file, link] = [join(folder, 'file.csv'), join(folder, 'link.csv')];
    await writeFile(file, 'old');
    await symlink('file.csv', link);
    const words = ['query', 'SELECT 1 AS n', '--warehouse', warehouse, '--out'];
    expect((await runHere([...words, link])).code).toBe(0);
    expect([await readlink(link), await readFile(file, 'utf8')]).toEqual(['file.csv', 'n\n1\n']);
  });

  it.each<[string, (path: string) => Promise<unknown>]>([
    ['a folder', (path) => mkdir(path)],
    ['a socket', listenAt],
    ['a link to nowhere', (path) => symlink('none.csv', path)],
  ])('refuses a name that stands for %s, and leaves that as it is', async (_, make) => {
    const { warehouse } = await sampleWarehouse();
    const out = join(await temporaryFolder(), 'x.csv');
    await make(out);
    const before = await lstat(out);
    const { code, stderr } = await runHere(['query', 'SELECT 1', '--out', out, '--warehouse', warehouse]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`${out} exists, but is not a file.`)]);
    expect((await lstat(out)).ino).toBe(before.ino);
  });

  it('refuses an ending that says another format than it could give, unless told one', async () => {
    const { warehouse } = await sampleWarehouse();
    const out = join(await temporaryFolder(), 'x.ods');
    const words = ['query', 'FROM voters', '--out', out, '--warehouse', warehouse];
    const refused = await runHere(words);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('The extension ".ods"') });
    expect(existsSync(out)).toBe(false);
    expect((await runHere([...words, '--format', 'csv'])).code).toBe(0);
    expect(await readFile(out, 'utf8')).toMatch(/^election_year,/);
  });

  it('writes a table without colours where its name says nothing', async () => {
    expect((await written('x.txt')).toString()).toBe(
      'province     n\nACEH      NULL\n1 row\nThe sample figures are made up.\n',
    );
  });

  it('writes the format that is requested, whatever its name', async () => {
    expect((await written('x.parquet', '--format', 'csv')).toString()).toBe('province,n\nACEH,\n');
    expect(JSON.parse((await written('x.csv', '--json')).toString())).toEqual([{ province: 'ACEH', n: null }]);
    expect((await written('x.csv', '--format', 'table')).toString()).toContain('1 row\n');
  });
});

describe('a query into a file that finds no room', () => {
  it.each(['csv', 'parquet'])('says so, leaves nothing, and is exit 1: %s', async (format) => {
    const folder = await temporaryFolder();
    const out = join(folder, 'out');
    const query = [cliPath, 'query', 'SELECT hash(range) AS h FROM range(300000)', '--format', format, '--out', out];
    const words = [...query, '--warehouse', (await sampleWarehouse()).warehouse];
    // The system lets no file grow further, as a full disk does.
    const child = spawn('sh', ['-c', 'ulimit -f 100; exec "$0" "$@"', process.execPath, ...words], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let told = '';
    child.stderr.on('data', (chunk: Buffer) => (told += chunk.toString()));
    const [code] = (await once(child, 'close')) as [number | null];
    expect(told).toContain(`rekap: ${out} would exceed the maximum file size of this system.`);
    expect(code).toBe(1);
    expect(await readdir(folder)).toEqual([]);
  });
});

describe('a query that is broken off', () => {
  it.each([
    ['csv', 'SIGINT', 130],
    ['parquet', 'SIGTERM', 143],
  ] as const)('leaves no file and says so: %s, %s', async (format, signal, exit) => {
    const { warehouse } = await sampleWarehouse();
    const folder = await temporaryFolder();
    const watcher = watch(folder);
    onTestFinished(() => watcher.close());
    const begun = once(watcher, 'change');
    const out = join(folder, `endless.${format}`);
    const child = spawn(process.execPath, [
      cliPath,
      'query',
      'FROM range(1000000000000)',
      '--out',
      out,
      '--warehouse',
      warehouse,
    ]);
    let told = '';
    child.stderr.on('data', (chunk: Buffer) => (told += chunk.toString()));
    const ended = once(child, 'close');
    await begun;
    child.kill(signal);
    expect((await ended)[0]).toBe(exit);
    expect(told).toContain(`${out} was not written.`);
    expect(await readdir(folder)).toEqual([]);
  });
});
