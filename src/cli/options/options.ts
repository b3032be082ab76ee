/** Options that several commands share, and how their values are read. */

import { normalize } from 'node:path';
import type { InferredOptionTypes, Options } from 'yargs';
import { RekapError } from '../../errors.ts';
import { nameOption } from './invocation.ts';
import { syncDefaults } from '../../run/options.ts';

/** A path as it is written, without detours; nothing at all would mean the present folder, which nobody means. */
function readFolder(path: string): string {
  if (path.trim() === '')
    throw new RekapError('usage', 'A folder is named by nothing.', 'Give a path, such as data/warehouse.');
  return normalize(path);
}

/** The same for a folder that need not be named. */
export function readOptionalFolder(path: string | undefined): string | undefined {
  return path === undefined ? undefined : readFolder(path);
}

export const warehouseOption = {
  warehouse: { type: 'string', default: 'data/warehouse', describe: 'folder of the warehouse', coerce: readFolder },
} as const satisfies Record<string, Options>;

export const jsonOption = {
  json: { type: 'boolean', default: false, describe: 'print one JSON document instead of text' },
} as const satisfies Record<string, Options>;

/** How a result of rows is given: by `--format`, or as JSON by the option that other commands have for it. */
export const resultOptions = {
  format: {
    type: 'string',
    choices: ['table', 'csv', 'json'],
    describe: 'how to give the result [default: table]',
  },
  json: { ...jsonOption.json, describe: 'the same as --format json' },
} as const satisfies Record<string, Options>;

/** What both say together; what `usual` says where neither says anything. Throws RekapError where they differ. */
export function readFormat<Format extends string>(
  format: Format | undefined,
  json: boolean,
  usual: () => Format | 'table' = () => 'table',
): Format | 'table' | 'json' {
  if (json && format !== undefined && format !== 'json')
    throw new RekapError('usage', `--json and --format ${format} exclude each other.`, 'Give one of them.');
  return json ? 'json' : (format ?? usual());
}

/** What a sync and a replay ask before they publish. */
export const publishOptions = {
  strict: {
    type: 'boolean',
    default: false,
    describe: 'refuse to publish where a check of severity error is broken or a record is in quarantine',
  },
  'accept-changes': {
    type: 'boolean',
    default: false,
    describe: 'publish although districts are gone or shrunken, or totals moved far',
  },
  'accept-source': { type: 'boolean', default: false, describe: 'let the warehouse change its source' },
} as const satisfies Record<string, Options>;

type PublishArguments = InferredOptionTypes<typeof publishOptions>;

export function readPublishOptions(args: PublishArguments) {
  return { strict: args.strict, acceptChanges: args['accept-changes'], acceptSource: args['accept-source'] };
}

/** How much of the past to keep. */
export const keepOptions = {
  keep: { type: 'number', default: syncDefaults.keep, describe: 'snapshots to keep' },
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

/** How long a command may take. */
export const maxDurationOption = {
  'max-duration': { type: 'number', describe: 'seconds for the whole run' },
} as const satisfies Record<string, Options>;

/** Seconds, as many as were given or, where none were, as the command has by default. */
export function readMaxDuration<Seconds extends number | undefined>(seconds: Seconds): Seconds {
  if (seconds !== undefined) requireInteger('max-duration', seconds, 1, 604_800);
  return seconds;
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
  throw new RekapError(
    'usage',
    `${nameOption(option)} must be a whole number from ${least} to ${most}.`,
    `"rekap <command> --help" shows its default.`,
  );
}
