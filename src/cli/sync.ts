/** rekap sync: fetches and checks all datasets, and publishes a snapshot. */

import { usageError } from './options/usage-error.ts';
import { nameOption } from './options/invocation.ts';
import { notifyOptions, pick, publishOptions, readPublishOptions } from './options/all-options.ts';
import { declareCommand, type Values } from './options/option.ts';
import { readApiKey } from './options/api-key.ts';
import { runVisibly } from './run-visibly.ts';
import { notifyOthers } from './notify-others.ts';
import { readBucketUrl } from '../share/address.ts';
import { checkCatalogSettings, lakeOptions } from './lake-settings.ts';
import { readBaseUrl } from '../source/base-url.ts';
import { loadChosenProject } from './project.ts';
import type { AnyPipeline, Project } from '../project/declaration.ts';
import { comparePartitions, joinPartition, partitionParameters, splitPartition } from '../project/partition-list.ts';
import { syncDefaults } from '../publish/run.ts';

export const syncOptions = {
  ...pick('base-url', 'sample', 'api-key-file', 'warehouse', 'project'),
  ...pick('partition', 'dataset', 'require-proof', 'concurrency', 'page-size', 'timeout', 'max-duration'),
  ...publishOptions,
  ...pick('keep', 'keep-landing', 'resume', 'push', 'lake'),
  ...lakeOptions,
  ...notifyOptions,
  ...pick('log-format'),
} as const;

const options = { ...syncOptions, ...pick('dry-run', 'unpin', 'json') } as const;

/** What most syncs set. */
export const commonOptions = [
  'base-url',
  'sample',
  'api-key-file',
  'warehouse',
  'partition',
  'dataset',
  'strict',
  'accept-changes',
  'keep',
  'resume',
  'on-failure',
  'dry-run',
  'json',
  'config',
] as const;

type SyncArguments = Values<typeof options>;

export const command = declareCommand({
  options,
  exclusive: ['base-url', 'sample'],
  common: commonOptions,
  examples: [
    ['rekap sync --sample', 'sync the sample figures'],
    ['REKAP_API_KEY=… rekap sync --base-url https://host', 'sync a service'],
    ['rekap sync --base-url https://host --resume', 'continue an interrupted sync'],
  ],
  run: (args) => notifyOthers(args, () => prepareSync(args)),
  cannotBegin: (args, error) => notifyOthers(args, () => Promise.reject(error)),
});

/** Milliseconds. Older pages may differ too much from the listing. */
const resumeWithin = 3_600_000;

/** Checks the options, and returns a function that runs the sync. */
export async function prepareSync(args: SyncArguments): Promise<() => Promise<void>> {
  const settings = {
    warehouse: args.warehouse,
    concurrency: args.concurrency,
    pageSize: args['page-size'],
    timeout: args.timeout * 1000,
    maxAttempts: syncDefaults.maxAttempts,
    maxDuration: args['max-duration'] * 1000,
    ...readPublishOptions(args),
    keep: args.keep,
    keepLanding: args['keep-landing'] ?? null,
    resumeWithin: args.resume ? resumeWithin : null,
    dryRun: args['dry-run'],
    unpin: args.unpin,
    requireProof: args['require-proof'] ?? null,
  };
  const project = await loadChosenProject(args.project);
  const given = args['base-url'] ?? project.baseUrl;
  if (given === null && !args.sample)
    throw usageError(
      'The source is missing.',
      'Add --base-url https://… for a service, or --sample for sample figures.',
    );
  const baseUrl = given === null || args.sample ? null : readBaseUrl(given, project.pipelines);
  const partitions = readPartitions(args.partition, project, args.dataset ?? null);
  const datasets = readDatasets(args.dataset, project);
  const bucket = args.push === undefined ? null : readBucketUrl(args.push).url;
  if (args.lake) await checkCatalogSettings(args);
  const key = baseUrl === null ? null : await readApiKey(args['api-key-file'], project.auth, project.pipelines);

  return async () => {
    const { sync } = await import('../sync.ts');
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
      await runVisibly(project, args, (context) => sync(project, requested, context), {
        canResume: settings.keepLanding !== 0,
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
  { pipelines }: Project,
  datasets: readonly string[] | null,
): string[] | null {
  if (given === undefined) return null;
  const requested = pipelines.filter(({ table }) => datasets?.includes(table) ?? true);
  const columnsOf = (pipeline: AnyPipeline): string =>
    partitionParameters(pipeline)
      .map(({ column }) => column)
      .join();
  const different = new Map(requested.map((pipeline) => [columnsOf(pipeline), pipeline]));
  different.delete('');
  const option = nameOption('partition');
  const [pipeline, ...others] = different.values();
  if (pipeline === undefined) throw usageError(`${option}: these datasets have no partitions.`, 'Remove --partition.');
  if (others.length > 0)
    throw usageError(
      `${option}: the datasets have different partitions (${[...different.keys()].join(', ')}).`,
      'Choose datasets with the same partitions with --dataset.',
    );
  return [...new Set(given.map((value) => normalizePartition(value, pipeline)))].toSorted(comparePartitions);
}

/** Returns a partition as messages name it, with numbers without leading zeros. */
function normalizePartition(partition: string, pipeline: AnyPipeline): string {
  const columns = partitionParameters(pipeline).map(({ column }) => column);
  const values = splitPartition(pipeline, partition);
  const option = nameOption('partition');
  const toList = `To list them, run "rekap query 'SELECT DISTINCT ${columns.join(', ')} FROM ${pipeline.table}'".`;
  if (values.length !== columns.length)
    throw usageError(
      `${option} ${JSON.stringify(partition)} does not have ${columns.length} values with slashes between them (${columns.join('/')}).`,
      toList,
    );
  const normalized = values.map((value, place) => {
    const column = pipeline.columns[columns[place]!]!;
    if (column.kind !== 'integer') return value;
    const { min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER } = column;
    if (/^-?\d{1,18}$/.test(value) && Number(value) >= min && Number(value) <= max) return String(BigInt(value));
    throw usageError(
      `${option} ${JSON.stringify(value)} is not a value of ${columns[place]}, which is a whole number.`,
      `Use numbers, such as --partition 1101 1102. ${toList}`,
    );
  });
  return joinPartition(normalized);
}

function readDatasets(given: readonly string[] | undefined, { pipelines }: Project): readonly string[] | null {
  const known = pipelines.map(({ table }) => table);
  const wrong = given?.find((name) => !known.includes(name));
  if (wrong !== undefined)
    throw usageError(
      `${nameOption('dataset')} ${JSON.stringify(wrong)} is not a dataset.`,
      `The datasets are ${known.join(' and ')}.`,
    );
  return given ?? null;
}
