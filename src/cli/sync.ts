/** rekap sync: fetches and checks all datasets, and publishes a snapshot. */

import { nameOption } from './options/invocation.ts';
import { declareCommand, type Options, type Values } from './options/option.ts';
import {
  jsonOption,
  keepOptions,
  publishOptions,
  readKeepOptions,
  readPublishOptions,
  warehouseOption,
  durationOption,
  week,
  logOptions,
} from './options/shared.ts';
import { notifyOptions } from './options/notify-options.ts';
import { notifyOthers } from './notify-others.ts';
import { readBucketUrl } from '../share/address.ts';
import { checkCatalogSettings, lakeOptions } from './lake-settings.ts';
import { RekapError } from '../errors.ts';
import { readBaseUrl } from '../source/base-url.ts';
import { loadChosenProject, projectOption } from './project.ts';
import { comparePartitions, type Project } from '../project/declaration.ts';
import { grades } from '../stages.ts';
import { syncDefaults } from '../run-options.ts';

export const syncOptions = {
  'base-url': {
    type: 'string',
    describe: 'URL of the service, such as https://host or https://host/path',
  },
  sample: { type: 'boolean', describe: 'sync sample figures from a local service' },
  'api-key-file': {
    type: 'string',
    describe: 'file with the API key',
    defaultDescription: 'the key in REKAP_API_KEY',
  },
  ...warehouseOption,
  ...projectOption,
  partition: { type: 'array', describe: 'sync only these partitions; the others are carried over' },
  dataset: { type: 'array', describe: 'sync only these datasets; the others are carried over' },
  'require-proof': {
    type: 'string',
    choices: grades,
    describe: 'minimum proof of completeness; refuse to publish if the proof of a list is weaker',
  },
  concurrency: {
    type: 'number',
    range: [1, 64],
    default: syncDefaults.concurrency,
    describe: 'maximum concurrent requests',
  },
  'page-size': {
    type: 'number',
    range: [2, 100_000],
    default: syncDefaults.pageSize,
    describe: 'records per request',
  },
  timeout: {
    type: 'number',
    range: [1, 3600],
    default: syncDefaults.timeout / 1000,
    describe: 'maximum seconds per attempt',
  },
  attempts: {
    type: 'number',
    range: [1, 20],
    default: syncDefaults.maxAttempts,
    describe: 'maximum attempts per request',
  },
  ...durationOption,
  ...publishOptions,
  ...keepOptions,
  resume: {
    type: 'boolean',
    describe: 'continue from the stored pages of an interrupted or failed sync; the full listing is always read again',
  },
  'resume-within': {
    type: 'number',
    range: [1, week],
    default: 3600,
    describe: 'maximum age in seconds of the pages that --resume reuses',
  },
  push: { type: 'string', describe: 's3://bucket/prefix to push the snapshot to after each success' },
  lake: { type: 'boolean', describe: 'publish the snapshot to the Iceberg catalog after each success' },
  ...lakeOptions,
  ...notifyOptions,
  ...logOptions,
} as const satisfies Options;

const options = {
  ...syncOptions,
  'dry-run': { type: 'boolean', describe: 'fetch and check the data, but do not publish it' },
  unpin: { type: 'boolean', describe: 'remove the pin of a rollback and make the new snapshot current' },
  ...jsonOption,
} as const satisfies Options;

type SyncArguments = Values<typeof options>;

export const syncCommand = declareCommand({
  options,
  exclusive: ['base-url', 'sample'],
  examples: [
    ['rekap sync --sample', 'sync the sample figures'],
    ['REKAP_API_KEY=… rekap sync --base-url https://host', 'sync a service'],
    ['rekap sync --base-url https://host --partition 1101 1102', 'sync two partitions'],
    ['rekap sync --base-url https://host --resume', 'continue an interrupted sync'],
    ['rekap sync --base-url https://host --dry-run', 'show what a sync would publish'],
  ],
  run: (args) => notifyOthers(args, () => prepareSync(args)),
  cannotBegin: (args, error) => notifyOthers(args, () => Promise.reject(error)),
});

/** Checks the options, and returns a function that runs the sync. */
export async function prepareSync(args: SyncArguments): Promise<() => Promise<void>> {
  const settings = {
    warehouse: args.warehouse,
    concurrency: args.concurrency,
    pageSize: args['page-size'],
    timeout: args.timeout * 1000,
    maxAttempts: args.attempts,
    maxDuration: args['max-duration'] * 1000,
    ...readPublishOptions(args),
    ...readKeepOptions(args),
    resumeWithin: args.resume ? args['resume-within'] * 1000 : null,
    dryRun: args['dry-run'],
    unpin: args.unpin,
    requireProof: args['require-proof'] ?? null,
  };
  const project = await loadChosenProject(args.project);
  const given = args['base-url'] ?? project.baseUrl;
  if (given === null && !args.sample)
    throw new RekapError(
      'usage',
      'The source is missing.',
      'Add --base-url https://… for a service, or --sample for sample figures.',
    );
  const baseUrl = given === null || args.sample ? null : readBaseUrl(given, project.pipelines);
  const partitions = readPartitions(args.partition, project, args.dataset ?? null);
  const datasets = readDatasets(
    args.dataset,
    project.pipelines.map(({ table }) => table),
  );
  const bucket = args.push === undefined ? null : readBucketUrl(args.push).url;
  if (args.lake) await checkCatalogSettings(args);
  const { readApiKey } = await import('./options/api-key.ts');
  const key = baseUrl === null ? null : await readApiKey(args['api-key-file'], project.auth);

  return async () => {
    const [{ sync }, { runVisibly }] = await Promise.all([import('../sync.ts'), import('./run-visibly.ts')]);
    const sample = key === null ? await (await import('./sample-service.ts')).startSample(project) : null;
    try {
      const requested = {
        ...settings,
        partitions,
        datasets,
        baseUrl: sample?.url ?? baseUrl!,
        source: sample === null ? baseUrl! : 'sample',
        apiKey: sample?.apiKey ?? key!,
      };
      await runVisibly(project, args.json, (context) => sync(project, requested, context), {
        canResume: settings.keepLanding !== 0,
        logFormat: args['log-format'],
      });
    } finally {
      await sample?.close();
    }
    if (bucket !== null && !args['dry-run']) await (await import('./push.ts')).pushPublished(bucket, args);
    if (args.lake && !args['dry-run']) await (await import('./lake.ts')).publishSynced(args);
  };
}

/** @throws `usage` if a value is invalid for its column, or the datasets have different partitions. */
function readPartitions(
  given: readonly string[] | undefined,
  { pipelines, partitionOption }: Project,
  datasets: readonly string[] | null,
): string[] | null {
  if (given === undefined) return null;
  const requested = pipelines.filter(({ table }) => datasets?.includes(table) ?? true);
  const columns = new Map(
    requested.flatMap(({ partition, columns: own }) =>
      partition === undefined ? [] : [[partition.column, own[partition.column]!]],
    ),
  );
  const option = nameOption(partitionOption);
  const [[column, definition] = [], ...others] = columns;
  if (column === undefined || definition === undefined)
    throw new RekapError('usage', `${option}: these datasets have no partitions.`, `Remove --${partitionOption}.`);
  if (others.length > 0)
    throw new RekapError(
      'usage',
      `${option}: the datasets have different partitions (${[...columns.keys()].join(', ')}).`,
      'Choose datasets with the same partitions with --dataset.',
    );
  if (definition.kind !== 'integer') return [...new Set(given)].toSorted(comparePartitions);
  const { min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER } = definition;
  const wrong = given.find((value) => !/^-?\d{1,18}$/.test(value) || Number(value) < min || Number(value) > max);
  if (wrong !== undefined)
    throw new RekapError(
      'usage',
      `${option} ${JSON.stringify(wrong)} is not a value of ${column}, which is a whole number.`,
      `Use numbers, such as --${partitionOption} 1101 1102. To list them, run "rekap query 'SELECT DISTINCT ${column} FROM ${requested[0]!.table}'".`,
    );
  return [...new Set(given.map((value) => String(BigInt(value))))].toSorted(comparePartitions);
}

function readDatasets(given: readonly string[] | undefined, known: readonly string[]): readonly string[] | null {
  const wrong = given?.find((name) => !known.includes(name));
  if (wrong !== undefined)
    throw new RekapError(
      'usage',
      `${nameOption('dataset')} ${JSON.stringify(wrong)} is not a dataset.`,
      `The datasets are ${known.join(' and ')}.`,
    );
  return given ?? null;
}
