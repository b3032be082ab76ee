/** Options as every command knows them: flags beat the environment, the environment beats the config file, the file beats the default. */

import { readFileSync } from 'node:fs';
import { normalize, resolve } from 'node:path';
import type { Argv, InferredOptionTypes, Options } from 'yargs';
import { UsageError } from '../errors.ts';
import { closestName } from './closest-name.ts';

/** A path as it is written, without detours; nothing at all would mean the present folder, which nobody means. */
export function readFolder(path: string): string {
  if (path.trim() === '') throw new UsageError('A folder is named by nothing.', 'Give a path, such as data/warehouse.');
  return normalize(path);
}

/** A folder that need not be named. */
export const optionalFolder = {
  type: 'string',
  coerce: (path: string | undefined) => (path === undefined ? undefined : readFolder(path)),
} as const satisfies Options;

export const warehouseOption = {
  warehouse: { type: 'string', default: 'data/warehouse', describe: 'folder of the warehouse', coerce: readFolder },
} as const satisfies Record<string, Options>;

export const jsonOption = {
  json: { type: 'boolean', default: false, describe: 'print one JSON document instead of text' },
} as const satisfies Record<string, Options>;

/** What a sync and a replay ask before they publish. */
export const publishOptions = {
  strict: { type: 'boolean', default: false, describe: 'refuse to publish where a check of severity error is broken' },
  'accept-changes': {
    type: 'boolean',
    default: false,
    describe: 'publish although districts are gone or totals moved far',
  },
  'accept-source': { type: 'boolean', default: false, describe: 'let the warehouse change its source' },
} as const satisfies Record<string, Options>;

type PublishArguments = InferredOptionTypes<typeof publishOptions>;

export function readPublishOptions(args: PublishArguments) {
  return { strict: args.strict, acceptChanges: args['accept-changes'], acceptSource: args['accept-source'] };
}

/** How much of the past to keep. */
export const keepOptions = {
  keep: { type: 'number', default: 7, describe: 'snapshots to keep' },
  'keep-landing': {
    type: 'number',
    describe: 'runs whose answers to keep [default: as many as --keep, and those of every snapshot there is]',
  },
} as const satisfies Record<string, Options>;

type KeepArguments = InferredOptionTypes<typeof keepOptions>;

/** `keepLanding` is null where the option is not given. */
export function readKeepOptions({ keep, 'keep-landing': landing }: KeepArguments) {
  return {
    keep: requireInteger('keep', keep, 1, 10_000),
    keepLanding: landing === undefined ? null : requireInteger('keep-landing', landing, 0, 10_000),
  };
}

const configOption = {
  config: { type: 'string', describe: 'JSON file with options, such as { "base-url": "https://…" }' },
} as const satisfies Record<string, Options>;

/** Declares a command's options, filled from the environment and the config file where the command line leaves them open. */
export function declareOptions<Given, Declared extends Record<string, Options>>(
  argv: Argv<Given>,
  options: Declared,
): Argv<Given & InferredOptionTypes<Declared>> {
  const declared = { ...options, ...configOption };
  const names = Object.keys(declared);
  const filled = { ...readConfigFile(names), ...readEnvironment(names, declared) };
  return argv.options(declared).config(filled) as unknown as Argv<Given & InferredOptionTypes<Declared>>;
}

/** REKAP_BASE_URL for base-url. */
function environmentName(option: string): string {
  return `REKAP_${option.replaceAll('-', '_').toUpperCase()}`;
}

function readEnvironment(names: readonly string[], declared: Record<string, Options>): Record<string, unknown> {
  const filled: Record<string, unknown> = {};
  for (const name of names) {
    const text = process.env[environmentName(name)];
    if (text === undefined || text === '') continue;
    if (declared[name]!.type === 'boolean') {
      if (!/^(true|false|1|0)$/.test(text))
        throw new UsageError(`${environmentName(name)} is ${JSON.stringify(text)}.`, 'Set it to true or false.');
      filled[name] = text === 'true' || text === '1';
    } else filled[name] = declared[name]!.type === 'array' ? text.split(',') : text;
  }
  return filled;
}

/** The config file is named by --config or REKAP_CONFIG. It may hold options of other commands too, but no unknown ones. */
function readConfigFile(names: readonly string[]): Record<string, unknown> {
  const path = configPath();
  if (path === undefined) return {};
  let parsed: unknown;
  try {
    parsed = JSON.parse(readFileSync(resolve(path), 'utf8'));
  } catch (error) {
    const why = error instanceof SyntaxError ? 'is not JSON' : 'cannot be read';
    throw new UsageError(`The config file ${path} ${why}.`, 'Correct it, or leave --config away.', { cause: error });
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw new UsageError(
      `The config file ${path} is not a JSON object.`,
      'Write options as { "base-url": "https://…" }.',
    );
  const filled: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(parsed)) {
    if (/key/i.test(name) && name !== 'api-key-file' && name !== 'api-keys-file')
      throw new UsageError(
        `The config file ${path} holds "${name}": keys do not belong there.`,
        'Set REKAP_API_KEY, or name a file with "api-key-file".',
      );
    if (names.includes(name)) filled[name] = value;
    else if (!optionNames.has(name)) {
      const closest = closestName(name, [...optionNames]);
      throw new UsageError(
        `The config file ${path} holds "${name}", which is no option.`,
        closest === undefined ? '"rekap <command> --help" shows what there is.' : `Did you mean "${closest}"?`,
      );
    }
  }
  return filled;
}

function configPath(): string | undefined {
  const words = process.argv.slice(2);
  const at = words.findIndex((word) => word === '--config' || word.startsWith('--config='));
  if (at < 0) return process.env['REKAP_CONFIG'];
  return words[at]!.includes('=') ? words[at]!.slice('--config='.length) : words[at + 1];
}

/** Every option of every command, for telling a stranger from an option that another command has. */
export const optionNames: ReadonlySet<string> = new Set([
  'help',
  'version',
  'config',
  'warehouse',
  'json',
  'base-url',
  'sample',
  'api-key-file',
  'dapil',
  'dataset',
  'concurrency',
  'page-size',
  'timeout',
  'attempts',
  'max-duration',
  'strict',
  'accept-changes',
  'accept-source',
  'keep',
  'dry-run',
  'keep-landing',
  'resume',
  'resume-within',
  'into',
  'format',
  'out',
  'data',
  'host',
  'port',
  'api-keys-file',
  'max-limit',
  'rate-limit',
  'faults',
  'faults-seed',
]);

/** A whole number within bounds, or a message that names the option. */
export function requireInteger(option: string, value: unknown, least: number, most: number): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value;
  throw new UsageError(
    `--${option} must be a whole number from ${least} to ${most}.`,
    `"rekap <command> --help" shows its default.`,
  );
}
