/** Writes the notices of third parties: every package that rekap brings along, its version, its licence, and the licence's text. */

import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Listed {
  readonly path?: string;
  readonly dependencies?: Readonly<Record<string, Listed>>;
}

interface Described {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
}

/** Folders of all packages below one. */
function* foldersOf({ dependencies = {} }: Listed): Generator<string> {
  for (const one of Object.values(dependencies)) {
    if (one.path !== undefined) yield one.path;
    yield* foldersOf(one);
  }
}

const listed = JSON.parse(
  execFileSync('npm', ['ls', '--omit=dev', '--all', '--long', '--json'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 100_000_000,
  }),
) as Listed;

const packages = [...new Set(foldersOf(listed))]
  .filter((folder) => existsSync(join(folder, 'package.json')))
  .map((folder) => ({ folder, ...(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Described) }))
  .toSorted((a, b) => (a.name < b.name ? -1 : 1));

const notices = packages.map(({ folder, name, version, license }) => {
  const file = readdirSync(folder).find((path) => /^(licen[cs]e|copying)/i.test(path));
  const text = file === undefined ? '' : readFileSync(join(folder, file), 'utf8').trim();
  return `${name} ${version}\nLicence: ${license ?? 'not stated'}\n\n${text}\n`;
});

const unstated = packages.filter(({ license }) => license === undefined).map(({ name }) => name);
if (unstated.length > 0) process.stderr.write(`These packages state no licence: ${unstated.join(', ')}\n`);
process.stdout.write(notices.join(`\n${'-'.repeat(80)}\n\n`));
