/** Every program of the documentation compiles under strict TypeScript, its libraries included, and runs. */

import { execFile } from 'node:child_process';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { startSource } from '../../src/testing/start-source.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { exportedNames } from './program-page.ts';
import { readBlocks } from './page-blocks.ts';

const root = join(import.meta.dirname, '../..');
const run = promisify(execFile);
/** A folder with rekap installed. */
async function openFolder(): Promise<string> {
  const folder = await temporaryFolder();
  await mkdir(join(folder, 'node_modules/@types'), { recursive: true });
  await symlink(root, join(folder, 'node_modules/rekap'));
  await symlink(join(root, 'node_modules/@types/node'), join(folder, 'node_modules/@types/node'));
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  return folder;
}

async function compile(folder: string, names: readonly string[]): Promise<void> {
  const options = [
    '--strict',
    '--skipLibCheck',
    'false',
    '--module',
    'nodenext',
    '--target',
    'es2023',
    '--types',
    'node',
  ];
  const compiling = run(join(root, 'node_modules/.bin/tsc'), [...options, ...names], { cwd: folder });
  const problems = await compiling.then(
    () => '',
    (error: unknown) => (error as { stdout: string }).stdout,
  );
  expect(problems).toBe('');
}

async function runProgram(
  folder: string,
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  return (await run(process.execPath, words, { cwd: folder, env: { PATH: process.env['PATH'], ...env } })).stdout;
}

it('lets a program use every exported name', async () => {
  const folder = await openFolder();
  const importOf = (module: string, entry: string): string[] => {
    const names = exportedNames(entry);
    const alias = module.replace('/', '_');
    const types = names.filter(({ isType }) => isType).map(({ name }) => name);
    return [
      `import * as ${alias} from '${module}';`,
      `import type { ${types.map((name) => `${name} as ${alias}_${name}`).join(', ')} } from '${module}';`,
      `for (const used of [${names
        .filter(({ isType }) => !isType)
        .map(({ name }) => `${alias}.${name}`)
        .join(', ')}]) if (used === undefined) throw new Error();`,
      `export type Used_${alias} = [${types.map((name) => `${alias}_${name}`).join(', ')}];`,
    ];
  };
  const lines = [...importOf('rekap', 'src/index.ts'), ...importOf('rekap/testing', 'src/testing/index.ts')];
  await writeFile(join(folder, 'all-names.ts'), lines.join('\n'));
  await compile(folder, ['all-names.ts']);
  expect(await runProgram(folder, ['all-names.js'])).toBe('');
});

describe('docs/how-to/use-from-a-program.md', async () => {
  const page = await readFile(join(root, 'docs/how-to/use-from-a-program.md'), 'utf8');
  const blocks = readBlocks(page);
  const programs = blocks
    .filter(({ language }) => language === 'ts')
    .map(({ content }) => ({ name: /^\/\/ (\S+)\n/.exec(content)![1]!, content }));

  it('has programs that compile and run', async () => {
    const folder = await openFolder();
    for (const { name, content } of programs) await writeFile(join(folder, name), content);
    await compile(
      folder,
      programs.map(({ name }) => name),
    );
    const source = await startSource();
    const env = { REKAP_BASE_URL: source.url, REKAP_API_KEY: source.apiKey };
    expect(await runProgram(folder, ['nightly.js'], env)).toMatch(/^published \S+ 84\n$/);
    await source.close();
    const printed = blocks.find(({ language }) => language === 'text')!.content;
    expect(await runProgram(folder, ['stations.js'])).toBe(printed);
    await runProgram(folder, ['--test', 'stations.test.js']);
  });
});
