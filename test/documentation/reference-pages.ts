/** Makes docs/reference/ from the built program, the table of failures, and a warehouse of the sample; `make docs` runs it. */

import { type LogEventDefinition, logEvents } from '../../src/cli/print/event-log.ts';
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describeDeclarations } from './declarations-page.ts';
import { describeProgram } from './program-page.ts';
import { pipelineShape, projectShape } from '../../src/project/shapes.ts';
import { type JsonSchema, toJsonSchema } from '@valibot/to-json-schema';
import { commands } from '../../src/cli/commands.ts';
import { allOptions, fileOptions } from '../../src/cli/options/all-options.ts';
import { configShape } from '../../src/cli/options/config-file.ts';
import { variableOf } from '../../src/cli/options/option.ts';
import type { Option } from '../../src/cli/options/option.ts';
import { readPublishedDictionary } from '../../src/warehouse/read-dictionary.ts';
import { ExitCode } from '../../src/errors.ts';
import { metrics } from '../../src/notify/metrics.ts';
import { manifestShape } from '../../src/warehouse/snapshot-format.ts';
import { landedResponseShape, landedVerdictShape, runFileShape } from '../../src/land/formats.ts';
import {
  describedElsewhere,
  exitMeanings,
  fileMeanings,
  keyMeanings,
  openKeys,
  otherVariables,
} from './reference-words.ts';

const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/dist\/$/, '/');
const command = join(root, 'dist/src/cli/main.js');

type Pages = Readonly<Record<string, string>>;

/** The text of each page by its name. */
export async function makeReferencePages(): Promise<Pages> {
  const folder = await mkdtemp(join(tmpdir(), 'rekap-reference-'));
  try {
    await rekap(folder, 'sync', '--sample');
    return {
      'commands.md': await makeCommands(await rekap(folder, '--help')),
      'configuration.md': await makeConfiguration(),
      'exit-codes.md': await makeExitCodes(),
      'events.md': makeEvents(),
      'metrics.md': makeMetrics(),
      'tables.md': await makeTables(folder),
      'files.md': await makeFiles(join(folder, 'data/warehouse')),
      'declarations.md': await makeDeclarations(),
      'program.md': page('Program', ...describeProgram()),
      ...(await makeSchemas()),
    };
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function makeDeclarations(): Promise<string> {
  const [declaration, source, helpers] = await Promise.all(
    ['declaration.ts', 'source-declaration.ts', 'define.ts'].map((name) =>
      readFile(join(root, 'src/project', name), 'utf8'),
    ),
  );
  return page(
    'Declarations',
    'The properties of a project, a dataset, its columns and its checks. [Declare a project](../how-to/declare-a-project.md) and [Add a dataset](../how-to/add-a-dataset.md) show how to use them.',
    ...describeDeclarations(`${declaration}\n${source}`, helpers!),
  );
}

/** JSON Schemas of the files of a warehouse, for whoever reads one with another program. */
async function makeSchemas(): Promise<Pages> {
  const shapes = {
    'manifest.json': manifestShape,
    'run.json': runFileShape,
    'config.json': configShape(fileOptions),
    'project.json': projectShape,
    'pipeline.json': pipelineShape,
    'responses.jsonl': landedResponseShape,
    'verdicts.jsonl': landedVerdictShape,
  };
  return Object.fromEntries(
    Object.entries(shapes).map(([name, shape]) => [
      `${name.split('.')[0]}.schema.json`,
      // Checks in code, such as that a path stays below its folder, have no JSON Schema.
      `${JSON.stringify({ title: name, ...withSchemaName(toJsonSchema(shape, { errorMode: 'ignore' })) }, null, 2)}\n`,
    ]),
  );
}

/** A declaration in JSON may name its schema. */
function withSchemaName(schema: JsonSchema): JsonSchema {
  const { properties = {} } = schema;
  return 'paging' in properties ? { ...schema, properties: { $schema: { type: 'string' }, ...properties } } : schema;
}

async function rekap(folder: string, ...words: readonly string[]): Promise<string> {
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], COLUMNS: '100' };
  return (await promisify(execFile)(process.execPath, [command, ...words], { cwd: folder, env })).stdout;
}

function page(title: string, ...parts: readonly string[]): string {
  return `${[`# ${title}`, '<!-- Made by `make docs`; change the code instead. -->', ...parts].join('\n\n')}\n`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** Lists the options that several commands have once; the commands name them. */
async function makeCommands(overview: string): Promise<string> {
  const described = await Promise.all(
    commands.map(async (entry) => {
      const { options, ...others } = await entry.load();
      const rows = Object.entries<Option>({ ...options, config: allOptions.config }).map(describeOption);
      return { ...entry, ...others, rows };
    }),
  );
  const all = described.flatMap(({ rows }) => rows);
  const uses = (row: readonly string[]): number => all.filter((other) => other.join() === row.join()).length;
  // An option may have different meanings. The shared one is that of most commands.
  const isShared = (row: readonly string[]): boolean =>
    uses(row) > 1 && all.every((other) => other[0] !== row[0] || uses(other) <= uses(row));
  const head = ['option', 'meaning', 'type and default'];
  const shared = new Map(all.filter(isShared).map((row) => [row.join(), row]));
  const block = (...lines: readonly string[]): string => `\`\`\`text\n${lines.join('\n')}\n\`\`\``;
  const sections = described.flatMap(({ name, usage, describe, positionals = {}, rows, examples = [], notes }) => {
    const own = rows.filter((row) => !isShared(row));
    const named = rows.filter(isShared).map(([option]) => option);
    return [
      `## rekap ${name}`,
      `${describe}.`,
      block(`rekap ${usage} [options]`),
      ...Object.entries(positionals).map(([positional, meaning]) => `\`${positional}\`: ${meaning}.`),
      ...(own.length === 0 ? [] : [table(head, own)]),
      ...(named.length === 0 ? [] : [`[Shared options](#shared-options): ${named.join(', ')}.`]),
      ...(examples.length === 0 ? [] : [block(...examples.flatMap(([line, what]) => [`# ${what}`, line]))]),
      ...(notes === undefined ? [] : [block(notes(100))]),
    ];
  });
  return page(
    'Commands',
    'The commands, in the groups of `rekap --help`:',
    block(overview.trim()),
    ...sections,
    '## Shared options',
    'Several commands have these options. [Configuration](configuration.md) lists their variables.',
    table(
      head,
      [...shared.values()].toSorted(([one], [other]) => (one < other ? -1 : 1)),
    ),
  );
}

/** Returns the name of an option, its meaning, and its type and default. */
function describeOption([name, option]: [string, Option]): [name: string, meaning: string, note: string] {
  const { type, describe, range, choices, defaultDescription, default: usual = defaultDescription } = option;
  const may = choices?.join(', ') ?? (range === undefined ? undefined : `${range[0]} to ${range[1]}`);
  const fallback = usual ?? (type === 'boolean' ? false : undefined);
  const note = [type, may, fallback === undefined ? undefined : `default: ${fallback}`];
  return [`\`--${name}\``, describe, note.filter((part) => part !== undefined).join('; ')];
}

async function makeConfiguration(): Promise<string> {
  const rows = new Map<string, { name: string; cells: readonly string[]; commands: string[] }>();
  for (const { name: words, load } of commands)
    for (const [name, option] of Object.entries<Option>({ ...(await load()).options, config: allOptions.config })) {
      const cells = describeOption([name, option]);
      const row = rows.get(cells.join('\n')) ?? { name, cells, commands: [] };
      row.commands.push(words);
      rows.set(cells.join('\n'), row);
    }
  const options = [...rows.values()]
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .map(({ name, cells: [option, meaning, note], commands: those }) => [
      option!,
      `\`${variableOf(name)}\``,
      those.join(', '),
      meaning!,
      note!,
    ]);
  return page(
    'Configuration',
    'You can set every option in three places. The command line takes precedence over the environment, and the environment over the config file.',
    'The config file is the file that you name with `--config`, or otherwise `rekap.json` in the working directory. rekap does not search parent folders. A line on stderr reports that `rekap.json` is used. rekap refuses this file if another user owns it or can write to it, because the file can run commands. If you trust it, name it with `--config`.',
    'In the environment, separate values with commas, and set switches to `true` or `false`. In the file, use the name of the option without dashes: `{ "base-url": "https://host", "partition": [1101, 1102] }`. One file can contain options of several commands. rekap refuses unknown options in the file, and variables that look like mistyped options.',
    'Editors can use the [JSON Schema](config.schema.json) of the file for completion.',
    '## Options',
    table(['option', 'variable', 'commands', 'meaning', 'type and default'], options),
    '## Other environment variables',
    table(
      ['variable', 'meaning'],
      Object.entries(otherVariables).map(([name, meaning]) => [`\`${name}\``, meaning]),
    ),
  );
}

/** Reads the comments too, so it reads the source. */
function makeMetrics(): string {
  return page(
    'Metrics',
    '`rekap sync --metrics-file` writes these metrics in the text format of Prometheus. `rekap serve --warehouse` and `rekap schedule --port` serve them at `/metrics`. Alert rules are in `deploy/prometheus/alerts.yaml`.',
    table(
      ['metric', 'type', 'meaning'],
      Object.entries(metrics).map(([name, [type, help]]) => [`\`${name}\``, type, help]),
    ),
  );
}

function makeEvents(): string {
  return page(
    'Events',
    'With `--log-format json`, `rekap sync`, `rekap replay` and `rekap schedule` write one JSON document per line to stderr. Each document has `time` (UTC), `level`, `run` (null before the run starts), `event`, and the fields below. You can rely on these names in alerts. If stderr is not a terminal, the text log has the same events as sentences, without most steps.',
    ...Object.entries(logEvents as Readonly<Record<string, LogEventDefinition>>).flatMap(
      ([name, { level, meaning, fields }]) => [
        `## ${name}`,
        `${meaning} Level: ${level}.`,
        ...(Object.keys(fields).length === 0
          ? []
          : [
              table(
                ['field', 'meaning'],
                Object.entries(fields).map(([field, what]) => [`\`${field}\``, what]),
              ),
            ]),
      ],
    ),
  );
}

async function makeExitCodes(): Promise<string> {
  const source = await readFile(join(root, 'src/errors.ts'), 'utf8');
  const declared = /const failures = \{\n([\s\S]*?)\n\} as const/.exec(source)?.[1] ?? '';
  const failures = [...declared.matchAll(/\/\*\* ([^\n]*) \*\/\n\s*'?([a-z-]+)'?: ExitCode\.([a-zA-Z]+),/g)];
  if (failures.length === 0) throw new Error('src/errors.ts declares no failures that can be read.');
  const codes = [...Object.entries(ExitCode), ['killed', 137] as const].toSorted(([, one], [, other]) => one - other);
  return page(
    'Exit codes',
    'Every failure prints a message and the next step to stderr. Published data is unchanged.',
    table(
      ['exit', 'meaning'],
      codes.map(([name, code]) => [String(code), meaningOf(exitMeanings, name)]),
    ),
    '## Failures',
    'Codes of `RekapError` in programs, and of errors in JSON output.',
    table(
      ['code', 'exit', 'meaning'],
      failures.map(([, meaning, code, exit]) => [
        `\`${code}\``,
        String(ExitCode[exit as keyof typeof ExitCode]),
        meaning!,
      ]),
    ),
  );
}

async function makeTables(folder: string): Promise<string> {
  const relations = await readPublishedDictionary(join(folder, 'data/warehouse/current/rekap.duckdb'));
  const exported = new Set(await readdir(join(folder, 'data/warehouse/current/parquet')));
  const sections = relations.map(({ name, meaning, kind, columns }) => {
    const withSource = columns.some(({ field }) => field !== null);
    const rows = columns.map((column) => [
      `\`${column.name}\``,
      column.type,
      column.unit,
      column.meaning,
      ...(withSource ? [column.field === null ? '' : `\`${column.field}\``] : []),
    ]);
    const head = ['column', 'type', 'unit', 'meaning', ...(withSource ? ['source field'] : [])];
    return `## ${name}\n\n${meaning}\n\nThis is a ${kind}, ${exported.has(name) ? 'also in Parquet' : 'in the DuckDB file only'}.\n\n${table(head, rows)}`;
  });
  const list = relations.map(({ name, kind, meaning }) => [`[\`${name}\`](#${name})`, kind, meaning]);
  return page('Tables and views', table(['name', 'kind', 'contents'], list), ...sections);
}

/** The words for a name; every name has some, so that nothing new stays unexplained. */
function meaningOf(words: Pages, name: string): string {
  const found = words[name];
  if (found === undefined) throw new Error(`test/documentation/reference-words.ts says nothing of "${name}".`);
  return found;
}

async function makeFiles(warehouse: string): Promise<string> {
  const paths = (await readdir(warehouse, { recursive: true, withFileTypes: true }))
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(warehouse.length + 1))
    .map((path) =>
      path
        .replace(/\d{8}T\d{6}Z-[0-9a-f]{6}/, (id) => (id && path.startsWith('landing') ? '<run>' : '<id>'))
        .replace(/parquet\/.*/, 'parquet/<table>/<table>.parquet'),
    );
  const read = (path: string): Promise<string> => readFile(join(warehouse, path), 'utf8');
  const [run] = await readdir(join(warehouse, 'landing'));
  const keysIn = async (path: string, line = 0): Promise<string> => {
    const text = await read(path);
    const value: unknown = JSON.parse(path.endsWith('.jsonl') ? text.split('\n').at(line)! : text);
    return table(
      ['key', 'meaning'],
      keysOf(value).map((key) => [`\`${key}\``, meaningOf(keyMeanings, key)]),
    );
  };
  return page(
    'Files of a warehouse',
    table(
      ['file', 'contents'],
      // Only a rollback writes the pin.
      [...new Set([...paths, 'pinned'])].toSorted().map((path) => [`\`${path}\``, meaningOf(fileMeanings, path)]),
    ),
    'An ID is the UTC time in seconds and six hexadecimal digits, such as `20261120T030002Z-1f3a9c`. IDs sort by time.',
    `## manifest.json\n\n${await keysIn('current/manifest.json')}`,
    `## runs.jsonl\n\n${await keysIn('runs.jsonl')}`,
    'These files have JSON Schemas: [manifest.json](manifest.schema.json), [run.json](run.schema.json), [lines of responses.jsonl](responses.schema.json), [lines of verdicts.jsonl](verdicts.schema.json).',
    `## landing/&lt;run&gt;/run.json\n\n${await keysIn(`landing/${run}/run.json`)}`,
    `## landing/&lt;run&gt;/responses.jsonl\n\nOne line per response.\n\n${await keysIn(`landing/${run}/responses.jsonl`)}`,
    `## landing/&lt;run&gt;/verdicts.jsonl\n\nOne line per partition and dataset.\n\n${await keysIn(`landing/${run}/verdicts.jsonl`)}\n\nIf the run read everything, the file ends with one more line:\n\n${await keysIn(`landing/${run}/verdicts.jsonl`, -2)}`,
  );
}

/** The paths of the keys of a JSON value, in their order; one item stands for all of an array. */
function keysOf(value: unknown, path = '', parent = ''): string[] {
  if (Array.isArray(value)) {
    return typeof value[0] === 'object' && !Array.isArray(value[0]) ? keysOf(value[0], `${path}[]`) : [];
  }
  if (typeof value !== 'object' || value === null) return [];
  const keys = Object.entries(value).flatMap(([key, inner]) => {
    const name = `${path}${path === '' ? '' : '.'}${openKeys[parent] ?? key}`;
    return [name, ...(describedElsewhere.has(name) ? [] : keysOf(inner, name, key))];
  });
  return [...new Set(keys)];
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  for (const [name, text] of Object.entries(await makeReferencePages()))
    await writeFile(join(root, 'docs/reference', name), text);
