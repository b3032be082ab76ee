/** The packed package runs with its dependencies alone: nothing of the development tools, nothing outside its own files. */

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.ts';

const root = join(import.meta.dirname, '../..');

interface Manifest {
  readonly dependencies: Record<string, string>;
}

it('the packed package syncs the sample with its run-time dependencies alone, and has types', async () => {
  const { folder, files } = await installPacked();
  expect(files).toEqual(
    expect.arrayContaining(['LICENSE', 'README.md', 'dist/src/index.d.ts', 'pipelines/models/turnout.sql']),
  );
  expect(
    files.filter((path) => /^test|^bench|^examples|^dist\/(?!src|pipelines)|^data\/warehouse\//.test(path)),
  ).toEqual([]);
  const printed = execFileSync(
    process.execPath,
    [join(folder, 'node_modules/rekap/dist/src/cli/main.js'), 'sync', '--sample', '--json'],
    { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
  );
  expect(JSON.parse(printed)).toMatchObject({ outcome: 'published' });
  expect(await readdir(join(folder, 'data/warehouse'))).toContain('current');

  const program = `
    import { sync, type SyncResult } from 'rekap';
    const outcome = (result: SyncResult): 'published' | 'unchanged' | 'held' | 'reproduced' | 'dry run' => result.outcome;
    // @ts-expect-error: a sync needs a warehouse.
    void sync({ baseUrl: 'https://host' });
    export { outcome };`;
  await writeFile(join(folder, 'program.mts'), program);
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const strict = '--noEmit --strict --module nodenext --target es2023 --skipLibCheck'.split(' ');
  const words = [compiler, ...strict, '--types', '', 'program.mts'];
  const { status, stdout } = spawnSync(process.execPath, words, { cwd: folder, encoding: 'utf8' });
  expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
});

/** A folder in which the packed package stands as an installed one does, and the files that it brought. */
async function installPacked(): Promise<{ folder: string; files: string[] }> {
  const folder = await temporaryFolder();
  const [packed] = JSON.parse(
    execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  ) as [{ filename: string; files: { path: string }[] }];
  const modules = join(folder, 'node_modules');
  await mkdir(modules);
  execFileSync('tar', ['-xzf', packed.filename], { cwd: folder });
  execFileSync('mv', [join(folder, 'package'), join(modules, 'rekap')]);
  for (const name of await runtimePackages()) {
    await mkdir(dirname(join(modules, name)), { recursive: true });
    await symlink(join(root, 'node_modules', name), join(modules, name));
  }
  return { folder, files: packed.files.map(({ path }) => path) };
}

/** The direct dependencies; their own are found beside them, for a link is followed to where it leads. */
async function runtimePackages(): Promise<string[]> {
  const { dependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as Manifest;
  return Object.keys(dependencies);
}
