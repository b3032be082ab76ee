/** rekap serve: serves the API from the sample, a folder of JSON files, or a warehouse. */

import { countFaults, listFaults, parseFaults } from './faults.ts';
import { declareCommand, type Options, type Values } from './options/option.ts';
import { allOptions, pick } from './options/all-options.ts';
import { readNamedFile } from './options/read-file.ts';
import { invocation } from './options/invocation.ts';
import { printFailure, warningText } from './print/terminal.ts';
import { remoteAccessWarning, describeService } from './service-text.ts';
import { loadChosenProject } from './project.ts';
import type { SampleWarehouse } from './sample-service.ts';
import { isBucketUrl } from '../share/address.ts';
import { RekapError } from '../errors.ts';
import { isLoopback } from '../source/base-url.ts';
import { systemClock } from '../runtime/context.ts';
import type { FaultName, FaultSettings } from '../serve/faults/fault-list.ts';

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
  if (!args.sample && args.data === undefined && args.warehouse === undefined)
    throw new RekapError(
      'usage',
      'The source to serve is missing.',
      'Add --sample, --data FOLDER or --warehouse FOLDER.',
    );
  const faultCounts = new Map<FaultName, number>();
  const faults = readFaults(args, faultCounts);

  const [
    { startService },
    { generateApiKey, readApiKeys },
    { openFolderSource },
    { openSample },
    { openWarehouseSource },
    { listenForSignals },
    { fitConnections },
    { syncSample },
    { requireCurrent },
  ] = await Promise.all([
    import('../serve/service.ts'),
    import('../serve/api-keys.ts'),
    import('../serve/record-source.ts'),
    import('../testing/open-sample.ts'),
    import('../serve/warehouse-source.ts'),
    import('./signals.ts'),
    import('../serve/limits.ts'),
    import('./sample-service.ts'),
    import('../warehouse/warehouse.ts'),
  ]);
  const loaded = args.warehouse === undefined ? await loadChosenProject(args.project) : null;
  const project = loaded ?? (await requireCurrent(args.warehouse!)).manifest.project;
  const { pipelines } = project;
  const keyText = await readKeyText(args['api-keys-file']);
  if (keyText === null && args.data !== undefined) throw missingKeys();
  const source =
    args.data !== undefined
      ? await openFolderSource(args.data, pipelines)
      : loaded !== null
        ? await openSample(loaded)
        : await openWarehouseSource(args.warehouse!, pipelines, {
            onFailure: (error) =>
              printFailure('the new snapshot cannot be served; the service continues with the previous one', error),
          });
  const bucket = args.warehouse === undefined ? '' : (invocation.warehouse ?? '');
  const stopFollowing = isBucketUrl(bucket) ? (await import('./use-bucket.ts')).followBucket(bucket) : () => undefined;
  const signals = listenForSignals();
  let sample: SampleWarehouse | null = null;
  try {
    // With faults, only the endpoints are served.
    if (args.sample && faults === undefined) sample = await syncSample(loaded!, signals.signal);
    const snapshotOfSample = sample === null ? undefined : await requireCurrent(sample.folder);
    const snapshot = snapshotOfSample === undefined ? source.snapshot : () => snapshotOfSample;
    const isSample = args.sample || snapshot?.().manifest.source === 'sample';
    if (keyText === null && !isSample) throw missingKeys();
    const generatedKey = keyText === null ? generateApiKey() : null;
    const keys = readApiKeys(generatedKey ?? keyText?.text ?? '', keyText?.origin ?? 'REKAP_API_KEYS');
    const service = await startService({
      pipelines,
      about: project,
      source,
      keys,
      site: {
        published: snapshot === undefined ? null : { warehouse: sample?.folder ?? args.warehouse!, snapshot },
        openSample: generatedKey !== null,
      },
      host: args.host,
      port: args.port,
      faults,
      maxConnections: fitConnections(readOpenFilesLimit()),
      onFailure: (error) => printFailure('a request failed', error),
    });
    const served = pipelines.map((pipeline) => ({ ...pipeline, records: source.current(pipeline).records.length }));
    process.stdout.write(
      describeService(service.url, await nameServed(args), served, { key: generatedKey, auth: project.auth, faults }),
    );
    if (!isLoopback(args.host)) process.stderr.write(warningText(remoteAccessWarning, process.stderr));
    await new Promise<void>((resolve) => {
      if (signals.signal.aborted) resolve();
      signals.signal.addEventListener('abort', () => resolve(), { once: true });
    });
    await service.close();
    if (faults !== undefined) process.stdout.write(`\n${countFaults(faults.values, faultCounts)}\n`);
  } finally {
    stopFollowing();
    await source.close();
    await sample?.remove();
    signals.stop();
  }
}

function missingKeys(): RekapError {
  return new RekapError(
    'usage',
    'The API keys that the service accepts are missing.',
    'Set REKAP_API_KEYS, or add --api-keys-file FILE with one key per line.',
  );
}

async function readKeyText(file: string | undefined): Promise<{ text: string; origin: string } | null> {
  if (file !== undefined) return { text: await readNamedFile('file of API keys', file, 'api-keys-file'), origin: file };
  const text = process.env['REKAP_API_KEYS'] ?? '';
  return text === '' ? null : { text: text.replaceAll(',', '\n'), origin: 'REKAP_API_KEYS' };
}

function readFaults({ faults }: ServeArguments, counts: Map<FaultName, number>): FaultSettings | undefined {
  if (faults === undefined) return undefined;
  return {
    values: parseFaults(faults.join(',')),
    seed: 1,
    clock: systemClock,
    onFault: (name) => counts.set(name, (counts.get(name) ?? 0) + 1),
  };
}

async function nameServed({ data, warehouse }: ServeArguments): Promise<string> {
  if (data !== undefined) return data;
  const [{ readCurrent }, { nameSource }] = await Promise.all([
    import('../warehouse/warehouse.ts'),
    import('./print/sync-summary.ts'),
  ]);
  if (warehouse === undefined) return nameSource('sample');
  const source = (await readCurrent(warehouse))?.manifest.source;
  return `the current snapshot of ${invocation.warehouse ?? warehouse}${source === undefined ? '' : `, from ${nameSource(source)}`}`;
}

/** Returns the limit of open files; null if it is unlimited or unknown. */
export function readOpenFilesLimit(): number | null {
  try {
    // Otherwise the report resolves the host names of all open connections.
    Object.assign(process.report, { excludeNetwork: true });
    const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft?: unknown } } };
    const soft = Number(userLimits?.open_files?.soft);
    return Number.isInteger(soft) && soft > 0 ? soft : null;
  } catch {
    return null;
  }
}
