/** rekap sync: fetches, checks and publishes. */

import type { CommandModule, InferredOptionTypes, Options } from 'yargs';
import { declareOptions } from './options/declare-options.ts';
import { nameOption } from './options/invocation.ts';
import {
  jsonOption,
  keepOptions,
  maxDurationOption,
  publishOptions,
  readKeepOptions,
  readMaxDuration,
  readPublishOptions,
  requireInteger,
  warehouseOption,
} from './options/options.ts';
import { RekapError } from '../errors.ts';
import type { Secret } from '../extract/ask/secret.ts';
import { readBaseUrl } from '../run/base-url.ts';
import { syncDefaults } from '../run/options.ts';

const options = {
  'base-url': { type: 'string', describe: 'address of the service, such as https://host or https://host/path' },
  sample: {
    type: 'boolean',
    default: false,
    describe: 'start the bundled service with sample figures and sync from it',
  },
  'api-key-file': { type: 'string', describe: 'file that holds the API key [default: the key is in REKAP_API_KEY]' },
  ...warehouseOption,
  dapil: { type: 'array', string: true, describe: 'refresh just these districts; the rest is carried over' },
  dataset: { type: 'array', string: true, describe: 'refresh just these datasets; the rest is carried over' },
  concurrency: { type: 'number', default: syncDefaults.concurrency, describe: 'requests under way at once' },
  'page-size': { type: 'number', default: syncDefaults.pageSize, describe: 'records to ask for at a time' },
  timeout: { type: 'number', default: syncDefaults.timeout / 1000, describe: 'seconds for one attempt at one request' },
  attempts: { type: 'number', default: syncDefaults.maxAttempts, describe: 'attempts at one request' },
  'max-duration': { ...maxDurationOption['max-duration'], default: syncDefaults.maxDuration / 1000 },
  ...publishOptions,
  ...keepOptions,
  resume: {
    type: 'boolean',
    default: false,
    describe: 'go on from the pages that a broken-off sync has landed; the list of districts is always asked for anew',
  },
  'resume-within': { type: 'number', default: 3600, describe: 'how old such pages may be, in seconds' },
  'dry-run': { type: 'boolean', default: false, describe: 'fetch and check, publish nothing' },
  ...jsonOption,
} as const satisfies Record<string, Options>;

type SyncArguments = InferredOptionTypes<typeof options>;

export const syncCommand: CommandModule<object, SyncArguments> = {
  builder: (argv) =>
    declareOptions(argv, options, {
      exclusive: ['base-url', 'sample'],
      examples: [
        ['$0 sync --sample', 'the whole way with sample figures'],
        ['REKAP_API_KEY=… $0 sync --base-url https://host', 'the service itself'],
        ['$0 sync --base-url https://host --dapil 1101 1102', 'refresh two districts'],
        ['$0 sync --base-url https://host --resume', 'after one that was broken off'],
        ['$0 sync --base-url https://host --dry-run', 'see what would be published'],
      ],
    }),
  handler: runSync,
};

async function runSync(args: SyncArguments): Promise<void> {
  const given = requireOneSource(args);
  const districts = readDistricts(args.dapil);
  const resumeWithin = requireInteger('resume-within', args['resume-within'], 1, 604_800) * 1000;
  const settings = {
    warehouse: args.warehouse,
    concurrency: requireInteger('concurrency', args.concurrency, 1, 64),
    pageSize: requireInteger('page-size', args['page-size'], 2, 100_000),
    timeout: requireInteger('timeout', args.timeout, 1, 3600) * 1000,
    maxAttempts: requireInteger('attempts', args.attempts, 1, 20),
    maxDuration: readMaxDuration(args['max-duration']) * 1000,
    ...readPublishOptions(args),
    ...readKeepOptions(args),
    resumeWithin: args.resume ? resumeWithin : null,
    dryRun: args['dry-run'],
    districts,
  };
  const { loadProject } = await import('../../pipelines/index.ts');
  const project = loadProject();
  const baseUrl = given === null ? null : readBaseUrl(given, project.pipelines);
  const datasets = readDatasets(
    args.dataset,
    project.pipelines.map(({ table }) => table),
  );
  const { readApiKey } = await import('./options/api-key.ts');
  const key: Secret | null = baseUrl === null ? null : readApiKey(args['api-key-file']);

  const [{ sync }, { runVisibly }] = await Promise.all([import('../sync.ts'), import('./signals.ts')]);
  const sample = key === null ? await (await import('./sample-service.ts')).startSample(project) : null;
  try {
    const asked = {
      ...settings,
      datasets,
      baseUrl: sample?.url ?? baseUrl!,
      source: sample === null ? baseUrl! : 'sample',
      apiKey: sample?.apiKey ?? key!,
    };
    await runVisibly(project, args.json, (around) => sync(project, asked, around), {
      canResume: settings.keepLanding !== 0,
    });
  } finally {
    await sample?.close();
  }
}

/** The base URL as it was given, or null for the sample. */
function requireOneSource(args: SyncArguments): string | null {
  const given = args['base-url'];
  if (args.sample && given !== undefined)
    throw new RekapError('usage', '--base-url and --sample exclude each other.', 'Give one of them.');
  if (args.sample) return null;
  if (given === undefined)
    throw new RekapError(
      'usage',
      'There is no source.',
      'Give --base-url https://… for a service, or --sample for sample figures.',
    );
  return given;
}

function readDistricts(given: readonly string[] | undefined): number[] | null {
  if (given === undefined) return null;
  const words = splitList(given);
  for (const word of words) {
    if (!/^\d{1,10}$/.test(word) || Number(word) > 2_147_483_647)
      throw new RekapError(
        'usage',
        `${nameOption('dapil')} ${JSON.stringify(word)} is no district id.`,
        'Give ids in digits, such as --dapil 1101 1102; "rekap query \'FROM dapil\'" shows them with their names.',
      );
  }
  if (words.length === 0)
    throw new RekapError(
      'usage',
      `${nameOption('dapil')} names no district.`,
      'Give ids in digits, such as --dapil 1101 1102.',
    );
  return [...new Set(words.map(Number))].toSorted((a, b) => a - b);
}

function readDatasets(given: readonly string[] | undefined, known: readonly string[]): string[] | null {
  if (given === undefined) return null;
  const words = splitList(given);
  for (const word of words) {
    if (!known.includes(word))
      throw new RekapError(
        'usage',
        `${nameOption('dataset')} ${JSON.stringify(word)} is no dataset.`,
        `The datasets are ${known.join(' and ')}.`,
      );
  }
  if (words.length === 0)
    throw new RekapError(
      'usage',
      `${nameOption('dataset')} names no dataset.`,
      `The datasets are ${known.join(' and ')}.`,
    );
  return words;
}

/** The parts of a list, of which several may come in one word: "1101, 1102". */
function splitList(given: readonly string[]): string[] {
  return given.flatMap((word) => word.split(/[\s,]+/)).filter((part) => part !== '');
}
