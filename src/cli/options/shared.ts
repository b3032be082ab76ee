/** Declares the options that several commands share. */

import { languages } from '../../project/declaration.ts';
import type { Options, Values } from './option.ts';
import { RekapError } from '../../errors.ts';
import { syncDefaults } from '../../run-options.ts';

/** A week in seconds. */
export const week = 604_800;

export const warehouseOption = {
  warehouse: { type: 'string', path: 'folder', default: 'data/warehouse', describe: 'warehouse folder' },
} as const satisfies Options;

export const readWarehouseOption = {
  warehouse: {
    ...warehouseOption.warehouse,
    path: 'folder or bucket',
    describe: 'warehouse folder, or s3://bucket/prefix of a pushed snapshot',
  },
} as const satisfies Options;

export const configOption = {
  config: {
    type: 'string',
    describe: 'JSON file with options, such as { "base-url": "https://…" }',
    defaultDescription: 'rekap.json in the working directory, if it exists',
  },
  profile: { type: 'string', describe: 'profile in the config file, such as staging' },
} as const satisfies Options;

export const jsonOption = {
  json: { type: 'boolean', describe: 'print one JSON document instead of text' },
} as const satisfies Options;

export const snapshotOption = {
  snapshot: { type: 'string', describe: 'ID of the snapshot to read', defaultDescription: 'the current snapshot' },
} as const satisfies Options;

export const languageOption = {
  lang: {
    type: 'string',
    choices: languages,
    default: 'en',
    describe: 'language: English (en) or Indonesian (id)',
  },
} as const satisfies Options;

export const resultOptions = {
  format: {
    type: 'string',
    choices: ['table', 'csv', 'json'],
    describe: 'output format',
    defaultDescription: 'table',
  },
  json: { ...jsonOption.json, describe: 'same as --format json' },
} as const satisfies Options;

export const durationOption = {
  'max-duration': {
    type: 'number',
    range: [1, week],
    default: syncDefaults.maxDuration / 1000,
    describe: 'maximum seconds for the whole run',
  },
} as const satisfies Options;

export const logOptions = {
  'log-format': {
    type: 'string',
    choices: ['auto', 'text', 'json'],
    default: 'auto',
    describe: 'log format on stderr; auto shows progress bars on a terminal and text elsewhere',
  },
} as const satisfies Options;

export const publishOptions = {
  strict: {
    type: 'boolean',
    describe: 'refuse to publish if a check of severity error fails or a record is in quarantine',
  },
  refuse: {
    type: 'string',
    choices: ['new-errors'],
    describe: 'refuse to publish if errors or records in quarantine are new since the previous snapshot',
  },
  'accept-changes': {
    type: 'boolean',
    describe: 'publish even if partitions disappeared or shrank, or totals changed significantly',
  },
  'accept-source': {
    type: 'boolean',
    describe: 'allow the warehouse to switch to another source',
  },
  memory: {
    type: 'number',
    range: [64, 1_000_000],
    describe: 'megabytes of memory for building tables; with less, large tables take longer',
    defaultDescription: '192, or more for over 6 million rows or long texts',
  },
} as const satisfies Options;

export function readPublishOptions(args: Values<typeof publishOptions>) {
  return {
    strict: args.strict,
    refuse: args.refuse ?? null,
    acceptChanges: args['accept-changes'],
    acceptSource: args['accept-source'],
    memory: args.memory === undefined ? undefined : args.memory * 1e6,
  };
}

export const keepOptions = {
  keep: {
    type: 'number',
    range: [1, 10_000],
    default: syncDefaults.keep,
    describe: 'snapshots to keep',
  },
  'keep-landing': {
    type: 'number',
    range: [0, 10_000],
    describe: 'runs whose responses to keep',
    defaultDescription: 'the value of --keep, and the runs of all kept snapshots',
  },
} as const satisfies Options;

export function readKeepOptions({ keep, 'keep-landing': keepLanding }: Values<typeof keepOptions>) {
  return { keep, keepLanding: keepLanding ?? null };
}

/** Reads a file that an option names. @throws `configuration` if it can't be read. */
export async function readNamedFile(what: string, file: string, option: string): Promise<string> {
  const [{ readFile }, { systemReason }] = await Promise.all([import('node:fs/promises'), import('../../errors.ts')]);
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const message = `The ${what} ${file} cannot be read: ${systemReason(error)}.`;
    throw new RekapError('configuration', message, `Correct --${option}, or change the permissions of the file.`, {
      cause: error,
    });
  }
}
