/** rekap serve: serves the API from the sample, a folder of JSON files, or a warehouse. */

import { usageError } from './options/usage-error.ts';
import { once } from 'node:events';
import { countFaults, listFaults, parseFaults } from './faults.ts';
import { declareCommand, type Options, type Values } from './options/option.ts';
import { allOptions, pick } from './options/all-options.ts';
import { readNamedFile } from './options/api-key.ts';
import { invocation } from './options/invocation.ts';
import { printFailure, printWarning, writeOut } from './print/terminal.ts';
import { nameSource } from './print/sync-summary.ts';
import { remoteAccessWarning, describeService } from './service-text.ts';
import { loadChosenProject } from './project.ts';
import { listenForSignals } from './signals.ts';
import { isBucketUrl } from '../share/address.ts';
import { isLoopback } from '../source/base-url.ts';
import { systemClock } from '../runtime/context.ts';
import type { Project } from '../project/declaration.ts';
import { generateApiKey, readApiKeys } from '../serve/api-keys.ts';
import type { FaultName, FaultSettings } from '../serve/faults/fault-list.ts';
import { openFolderSource, type RecordSource } from '../serve/record-source.ts';
import { openSample } from '../testing/open-sample.ts';
import { requireCurrent, type Snapshot } from '../warehouse/warehouse.ts';

const options = {
  ...pick('project', 'sample', 'data', 'host', 'api-keys-file', 'faults'),
  warehouse: {
    type: 'string',
    path: 'folder or bucket',
    describe: 'warehouse folder or s3://bucket/prefix; serves the current snapshot and follows it when it changes',
  },
  port: { ...allOptions.port, default: 8080 },
} as const satisfies Options;

type ServeArguments = Values<typeof options>;

export const command = declareCommand({
  options,
  exclusive: ['sample', 'data', 'warehouse'],
  examples: [
    ['rekap serve --sample', 'serve the sample figures at http://127.0.0.1:8080'],
    ['rekap serve --data figures --api-keys-file keys.txt', 'serve your own records'],
    ['REKAP_API_KEYS=… rekap serve --warehouse data/warehouse', 'serve a mirror of the source'],
    ['rekap serve --sample --faults clamp=50,429=0.1', 'simulate faults, for testing your own pipeline'],
  ],
  notes: (width) =>
    `Faults (P is a rate from 0, never, to 1, always; N is a number of records):\n${listFaults(width - 1)}`,
  run: runServe,
});

async function runServe(args: ServeArguments): Promise<void> {
  const counts = new Map<FaultName, number>();
  const faults = readFaults(args.faults, counts);
  const keyText = await readKeyText(args['api-keys-file']);
  const signals = listenForSignals();
  let served: Served | null = null;
  try {
    served = await openServed(args, signals.signal);
    const { project, source, published, isSample } = served;
    if (keyText === null && !isSample)
      throw usageError(
        'The API keys that the service accepts are missing.',
        'Set REKAP_API_KEYS, or add --api-keys-file FILE with one key per line.',
      );
    const key = keyText === null ? generateApiKey() : null;
    // Keys that are set are required, also for a source that needs none.
    const auth = project.auth ?? (keyText === null ? null : { header: 'x-api-key' });
    const { pipelines } = project;
    const { startService } = await import('../serve/service.ts');
    const service = await startService({
      pipelines,
      about: { ...project, auth },
      source,
      keys: readApiKeys(key ?? keyText?.text ?? '', keyText?.origin ?? 'REKAP_API_KEYS'),
      site: { published, openSample: key !== null },
      host: args.host,
      port: args.port,
      faults,
      onFailure: (error) => printFailure('a request failed', error),
    });
    const endpoints = pipelines.map((pipeline) => {
      const { records, isReceived } = source.current(pipeline);
      return { ...pipeline, records: records.length, isReceived };
    });
    const what = nameServed(args, published?.snapshot().manifest.source);
    await writeOut(describeService(service.url, what, endpoints, { key, auth, faults }));
    if (!isLoopback(args.host)) printWarning(remoteAccessWarning);
    if (!signals.signal.aborted) await once(signals.signal, 'abort');
    await service.close();
    if (faults !== undefined) await writeOut(`\n${countFaults(faults.values, counts)}\n`);
  } finally {
    await served?.close();
    signals.stop();
  }
}

interface Served {
  readonly project: Project;
  readonly source: RecordSource;
  readonly published: { readonly warehouse: string; readonly snapshot: () => Snapshot } | null;
  /** True if anyone may read what is served. */
  readonly isSample: boolean;
  close(): Promise<void>;
}

/** Opens what the options name: a folder of records, a warehouse or the sample. */
async function openServed(args: ServeArguments, signal: AbortSignal): Promise<Served> {
  const { data, warehouse } = args;
  if (warehouse !== undefined) {
    const { project } = (await requireCurrent(warehouse)).manifest;
    const onFailure = (error: unknown): void =>
      printFailure('the new snapshot cannot be served; the service continues with the previous one', error);
    const { openWarehouseSource } = await import('../serve/warehouse-source.ts');
    const source = await openWarehouseSource(warehouse, project.pipelines, { onFailure });
    const bucket = invocation.warehouse ?? '';
    const stopFollowing = isBucketUrl(bucket)
      ? (await import('./use-bucket.ts')).followBucket(bucket)
      : () => undefined;
    const snapshot = source.snapshot!;
    const isSample = snapshot().manifest.source === 'sample';
    const close = async (): Promise<void> => {
      stopFollowing();
      await source.close();
    };
    return { project, source, published: { warehouse, snapshot }, isSample, close };
  }
  if (data === undefined && !args.sample)
    throw usageError('The source to serve is missing.', 'Add --sample, --data FOLDER or --warehouse FOLDER.');
  const project = await loadChosenProject(args.project);
  const isSample = data === undefined;
  const source = isSample ? await openSample(project) : await openFolderSource(data, project.pipelines);
  // With faults, only the endpoints are served.
  if (!isSample || args.faults !== undefined)
    return { project, source, published: null, isSample, close: async () => source.close() };
  const { syncSample } = await import('./sample-service.ts');
  const sample = await syncSample(project, signal);
  const snapshot = await requireCurrent(sample.folder);
  const close = async (): Promise<void> => {
    await source.close();
    await sample.remove();
  };
  return { project, source, published: { warehouse: sample.folder, snapshot: () => snapshot }, isSample, close };
}

async function readKeyText(file: string | undefined): Promise<{ text: string; origin: string } | null> {
  if (file !== undefined) return { text: await readNamedFile('file of API keys', file, 'api-keys-file'), origin: file };
  const text = process.env['REKAP_API_KEYS'] ?? '';
  return text === '' ? null : { text: text.replaceAll(',', '\n'), origin: 'REKAP_API_KEYS' };
}

function readFaults(given: ServeArguments['faults'], counts: Map<FaultName, number>): FaultSettings | undefined {
  if (given === undefined) return undefined;
  const onFault = (name: FaultName): void => void counts.set(name, (counts.get(name) ?? 0) + 1);
  return { values: parseFaults(given.join(',')), seed: 1, clock: systemClock, onFault };
}

function nameServed({ data, warehouse }: ServeArguments, source = 'sample'): string {
  if (data !== undefined) return data;
  if (warehouse === undefined) return nameSource('sample');
  return `the current snapshot of ${invocation.warehouse ?? warehouse}, from ${nameSource(source)}`;
}
