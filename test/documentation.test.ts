/** The documents match the program: names, codes, bounds and links. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { checkNames, pipelines } from './support/bundled.ts';
import { allOptions } from '../src/cli/options/all-options.ts';
import * as limits from '../src/serve/limits.ts';
import { makeReferencePages } from './documentation/reference-pages.ts';

const root = join(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const pages = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'].concat(
  readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => join('docs', path)),
);

describe('docs/reference', () => {
  let made: Readonly<Record<string, string>> = {};
  beforeAll(async () => {
    made = await makeReferencePages();
  });

  it.each([
    'commands.md',
    'configuration.md',
    'events.md',
    'metrics.md',
    'exit-codes.md',
    'tables.md',
    'files.md',
    'declarations.md',
    'program.md',
    'project.schema.json',
    'pipeline.schema.json',
    'manifest.schema.json',
    'config.schema.json',
  ])('has an up-to-date %s', (name) => {
    expect(read(`docs/reference/${name}`), 'this page is stale: run `make docs`').toBe(made[name]);
  });

  it('names every option, and each belongs to a command', () => {
    for (const name of Object.keys(allOptions)) expect(made['configuration.md']).toContain(`| \`--${name}\` |`);
  });

  it('names every variable that the command line reads', () => {
    const sources = readdirSync(join(root, 'src/cli'), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts'))
      .map((path) => read(join('src/cli', path)));
    const variables = [...sources.join('\n').matchAll(/process\.env\[?\.?'?(REKAP_\w+)/g)].map(([, name]) => name!);
    expect(variables).toContain('REKAP_DEBUG');
    for (const name of variables) expect(made['configuration.md']).toContain(`\`${name}\``);
  });
});

it('docs/explanation/checks.md names every check', () => {
  const text = read('docs/explanation/checks.md');
  const rowChecks = pipelines.flatMap(({ checks }) => checks.map(({ name }) => name));
  for (const name of [...checkNames, ...rowChecks]) expect(text).toContain(`\`${name}\``);
});

it('docs/explanation/comparison.md shows what `make compare` runs', () => {
  const files = readdirSync(join(root, 'bench/peers')).map((name) => read(join('bench/peers', name)));
  const blocks = [...read('docs/explanation/comparison.md').matchAll(/^```\w+\n([\s\S]*?)^```/gm)];
  expect(blocks).toHaveLength(4);
  for (const [, block] of blocks)
    expect(
      files.some((text) => text.includes(block!)),
      block,
    ).toBe(true);
});

describe('docs/explanation/architecture.md', () => {
  const text = read('docs/explanation/architecture.md');

  it('gives a reason for every dependency', () => {
    const { dependencies, devDependencies } = JSON.parse(read('package.json')) as Record<string, object>;
    for (const name of Object.keys({ ...dependencies, ...devDependencies })) expect(text).toContain(`\`${name}\``);
  });

  it('names existing files for each change, and their number', () => {
    const rows = [...text.matchAll(/^\| (a|an|the) [^|]+\| ([^|]+) \| (\d+) \|$/gm)];
    expect(rows.length).toBeGreaterThan(8);
    for (const [row, , files, number] of rows) {
      const paths = [...files!.matchAll(/`([^`]+)`/g)].map(([, path]) => path!);
      expect(paths, row).toHaveLength(Number(number));
      for (const path of paths.filter((each) => !each.includes('NAME')))
        expect(existsSync(join(root, path)) || existsSync(join(root, 'src', path)), path).toBe(true);
    }
  });

  it('has every folder of src/ on its map', () => {
    const folders = readdirSync(join(root, 'src'), { withFileTypes: true }).filter((entry) => entry.isDirectory());
    for (const { name } of folders) expect(text).toContain(` ${name}/ `);
  });
});

it.each(pages)('%s links to existing pages and headings', (page) => {
  const links = [...read(page).matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)];
  for (const [, path, heading] of links) {
    const target = path === '' ? page : join(dirname(page), path!);
    expect(existsSync(join(root, target)), `${page} links to ${path}`).toBe(true);
    if (heading === undefined) continue;
    const headings = [...read(target).matchAll(/^#+ (.*)$/gm)].map(([, title]) =>
      title!
        .toLowerCase()
        .replaceAll(/[^\w -]/g, '')
        .replaceAll(' ', '-'),
    );
    expect(headings, `${page} links to ${path}#${heading}`).toContain(heading);
  }
});

// Outside of the clone, npx would run a package of that name from the registry, which is not ours.
it.each(pages.filter((page) => page !== 'CHANGELOG.md'))('%s does not run rekap through npx', (page) => {
  expect(read(page)).not.toMatch(/npx (-\S+ )*rekap/);
});

describe('SECURITY.md', () => {
  const lines = read('SECURITY.md').split('\n');
  const bounds = Object.entries<unknown>(limits).filter(
    (entry): entry is [string, number] => typeof entry[1] === 'number',
  );

  it.each(bounds)('names the bound %s of the service with its value', (name, value) => {
    const line = lines.find((text) => text.startsWith(`| \`${name}\``)) ?? '';
    const shown = /Timeout|Interval/.test(name) ? `${value / 1000} s` : value.toLocaleString('en');
    expect(line).toMatch(new RegExp(`\\| ${shown}( [a-z]+)? *\\| .+`));
  });

  it('is right that no dependency has an install script, and about dependencies without hashes', () => {
    const { packages } = JSON.parse(read('package-lock.json')) as {
      packages: Record<string, { dev?: boolean; hasInstallScript?: boolean; integrity?: string }>;
    };
    const installed = Object.entries(packages).filter(([path]) => path !== '');
    expect(installed.length).toBeGreaterThan(50);
    expect(installed.filter(([, entry]) => entry.hasInstallScript === true)).toEqual([]);
    const unhashed = installed.filter(([, entry]) => entry.dev !== true && entry.integrity === undefined);
    for (const [path] of unhashed)
      expect(path).toMatch(/^node_modules\/@duckdb\/node-bindings-(darwin|win32|linux-arm64)/);
  });
});
