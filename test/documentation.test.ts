/** What users are told is what there is: every command, option, table, check and exit code stands in the README. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkNames, modelNames, pipelines } from '../pipelines/index.ts';
import { optionNames } from '../src/cli/options/options.ts';
import { ExitCode } from '../src/errors.ts';
import { faultList, presets } from '../src/serve/faults/fault-list.ts';
import { exportedTables, quarantineTable, snapshotsLogTable } from '../src/load/tables.ts';
import { syncDefaults } from '../src/run/sync-defaults.ts';
import * as limits from '../src/serve/limits.ts';

const root = join(import.meta.dirname, '..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const sources = readdirSync(join(root, 'src/cli'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => readFileSync(join(root, 'src/cli', file), 'utf8'));

describe('the README', () => {
  it('names every command', () => {
    const commands = [...sources.join('\n').matchAll(/^ {2,4}command: '([a-z]+)/gm)].map(([, name]) => name!);
    expect(commands.length).toBeGreaterThan(8);
    for (const command of new Set(commands)) expect(readme).toMatch(new RegExp(`(rekap|snapshots) ${command}\\b`));
  });

  it('names every option', () => {
    for (const option of optionNames) {
      if (['help', 'version'].includes(option)) continue;
      expect(readme, option).toContain(`--${option}`);
    }
  });

  it('says what each option of a sync is where it is not given', () => {
    const { concurrency, pageSize, timeout, maxAttempts, maxDuration, keep } = syncDefaults;
    const defaults = {
      '`--concurrency`': concurrency,
      '`--page-size`': pageSize,
      '`--timeout`, `--attempts`': `${timeout / 1000}, ${maxAttempts}`,
      '`--max-duration`': maxDuration / 1000,
      '`--keep`': keep,
    };
    for (const [option, usual] of Object.entries(defaults))
      expect(readme.split('\n').find((line) => line.startsWith(`| ${option} |`))).toMatch(
        new RegExp(`\\| ${usual} \\|$`),
      );
  });

  it('names every table, view and check', () => {
    const tables = [...pipelines.map(({ table }) => table), 'violations', quarantineTable.name, snapshotsLogTable.name];
    const checks = [...checkNames, ...pipelines.flatMap(({ checks: own }) => own.map(({ name }) => name))];
    for (const name of [...tables, ...modelNames, ...checks]) expect(readme, name).toContain(`\`${name}\``);
  });

  it('names every fault with its default and what happens, and what each preset stands for', () => {
    for (const { name, value, default: usual, sentence } of faultList)
      expect(readme, name).toContain(
        `| \`${name}\` | ${value === 'rate' ? 'rate' : 'number'} | ${usual} | ${sentence} |`,
      );
    for (const name of Object.keys(presets)) expect(readme, name).toContain(`\`${name}\` stands for`);
    const transient = /`transient` stands for ([^:]*) at their defaults/.exec(readme)?.[1] ?? '';
    expect([...transient.matchAll(/`(\w+)`/g)].map(([, name]) => name)).toEqual(presets['transient']!.faults);
  });

  it('says which tables are there as Parquet, and which are in the DuckDB file only', () => {
    const parquet = /^(.*) are there as Parquet too\. (.*) and the views are in\n/m.exec(readme);
    const named = (text: string | undefined) => new Set([...(text ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => name));
    expect(named(parquet?.[1])).toEqual(new Set(exportedTables(pipelines).map(({ name }) => name)));
    expect(named(parquet?.[2])).toEqual(new Set([snapshotsLogTable.name]));
  });

  it('names every variable of the environment that is not an option', () => {
    const variables = [...sources.join('\n').matchAll(/process\.env\[?\.?'?(REKAP_\w+)/g)].map(([, name]) => name!);
    expect(variables).toContain('REKAP_DEBUG');
    for (const name of variables) expect(readme, name).toContain(`\`${name}`);
  });

  it('names every exit code', () => {
    for (const code of Object.values(ExitCode)) expect(readme).toMatch(new RegExp(`\\| (\\d+, )*${code}(, \\d+)* \\|`));
  });
});

describe('the list of options', () => {
  it('is that of the commands: a config file may hold any of them, and no others', () => {
    const declared = new Set(
      sources.flatMap((text) =>
        [...text.matchAll(/^ {2}'?([a-z-]+)'?: \{\s*(?:\/\/.*\s*)*type: '/gm)].map(([, name]) => name!),
      ),
    );
    for (const extra of ['keep']) declared.add(extra);
    expect([...optionNames].filter((name) => !['help', 'version'].includes(name)).toSorted()).toEqual(
      [...declared].toSorted(),
    );
  });
});

describe('the architecture', () => {
  const text = readFileSync(join(root, 'docs/architecture.md'), 'utf8');

  it('gives a reason for every dependency, of the package and of its development', () => {
    const { dependencies, devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<
      'dependencies' | 'devDependencies',
      Record<string, string>
    >;
    for (const name of Object.keys({ ...dependencies, ...devDependencies })) expect(text).toContain(`\`${name}\``);
  });

  it('has every file and folder of src/ on its map', () => {
    const map = /## The map\n([\s\S]*?)\n## /.exec(text)?.[1] ?? '';
    const entries = readdirSync(join(root, 'src'), { withFileTypes: true });
    const missing = entries
      .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
      .filter((name) => !new RegExp(`(^|[ ,])${name}([ ,]|$)`, 'm').test(map));
    expect(missing).toEqual([]);
  });
});

describe('SECURITY.md', () => {
  const lines = readFileSync(join(root, 'SECURITY.md'), 'utf8').split('\n');
  const bounds = Object.entries<unknown>(limits).filter(
    (entry): entry is [string, number] => typeof entry[1] === 'number',
  );

  it.each(bounds)('names the bound %s of the service with its value', (name, value) => {
    const line = lines.find((text) => text.startsWith(`| \`${name}\``)) ?? '';
    const shown = /Timeout|Interval/.test(name) ? `${value / 1000} s` : value.toLocaleString('en');
    expect(line).toMatch(new RegExp(`\\| ${shown}( [a-z]+)? *\\| .+`));
  });

  it('is right that no dependency runs a script when it is installed, and about which have no hash', () => {
    const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
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
