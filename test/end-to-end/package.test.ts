/** The packed package runs with its dependencies alone: nothing of the development tools, nothing outside its own files. */

import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.ts';

const root = join(import.meta.dirname, '../..');

interface Manifest {
  readonly dependencies: Record<string, string>;
}

describe('the packed package', () => {
  it('syncs the sample with its run-time dependencies alone', async () => {
    const folder = await temporaryFolder();
    const [packed] = JSON.parse(
      execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
        cwd: root,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      }),
    ) as [{ filename: string; files: { path: string }[] }];
    const names = packed.files.map(({ path }) => path);
    expect(names).toEqual(
      expect.arrayContaining([
        'LICENSE',
        'README.md',
        'dist/src/cli/main.js',
        'dist/src/index.d.ts',
        'pipelines/models/turnout.sql',
      ]),
    );
    expect(names.filter((path) => /test|bench|warehouse\//.test(path))).toEqual([]);

    const modules = join(folder, 'node_modules');
    await mkdir(modules);
    execFileSync('tar', ['-xzf', packed.filename], { cwd: folder });
    execFileSync('mv', [join(folder, 'package'), join(modules, 'rekap')]);
    for (const name of await runtimePackages()) {
      await mkdir(dirname(join(modules, name)), { recursive: true });
      await symlink(join(root, 'node_modules', name), join(modules, name));
    }
    const printed = execFileSync(
      process.execPath,
      [join(modules, 'rekap/dist/src/cli/main.js'), 'sync', '--sample', '--json'],
      { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
    );
    expect(JSON.parse(printed)).toMatchObject({
      outcome: 'published',
      manifest: { datasets: { voters: { rows: 514 } } },
    });
    expect(await readdir(join(folder, 'data/warehouse'))).toContain('current');
  });
});

/** The direct dependencies; their own are found beside them, for a link is followed to where it leads. */
async function runtimePackages(): Promise<string[]> {
  const { dependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as Manifest;
  return Object.keys(dependencies);
}
