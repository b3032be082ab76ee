/** rekap serve: the service itself, from the sample, a folder of JSON files, or a warehouse. */

import { readFileSync } from 'node:fs';
import type { CommandModule, InferredOptionTypes, Options } from 'yargs';
import { countFaults, describeFaults, listFaults, parseFaults } from './faults.ts';
import { declareOptions } from './options/declare-options.ts';
import { readOptionalFolder, requireInteger } from './options/options.ts';
import { printable, printFailure, warningText } from './print/terminal.ts';
import { inColumns, widthOf } from './print/wrap-text.ts';
import { RekapError, systemReason } from '../errors.ts';
import { isLoopback } from '../run/base-url.ts';
import { countOf } from '../runtime/numbers.ts';
import type { FaultName, FaultSettings } from '../serve/faults/fault-list.ts';

const options = {
  sample: { type: 'boolean', default: false, describe: 'serve the sample figures; a key is made and printed' },
  data: {
    type: 'string',
    describe: 'folder that holds datapemilihdpr.json and datahakpilihdpr.json, each an array of records',
  },
  warehouse: {
    type: 'string',
    coerce: readOptionalFolder,
    describe: 'folder of a warehouse whose current snapshot is served, and followed when it changes',
  },
  host: { type: 'string', default: '127.0.0.1', describe: 'address to listen on' },
  port: { type: 'number', default: 8080, describe: 'port to listen on; 0 for any free one' },
  'api-keys-file': {
    type: 'string',
    describe: 'file with one accepted key per line [default: REKAP_API_KEYS, separated by commas]',
  },
  'max-limit': { type: 'number', default: 1000, describe: 'largest limit that a request may ask for' },
  'rate-limit': { type: 'number', describe: 'requests per minute and key [default: no limit]' },
  faults: {
    type: 'array',
    string: true,
    describe: 'how to misbehave, for testing a pipeline: faults from the list below, separated by commas',
  },
  'faults-seed': { type: 'number', describe: 'number from which every chance follows [default: a new one, printed]' },
} as const satisfies Record<string, Options>;

type ServeArguments = InferredOptionTypes<typeof options>;

export const serveCommand: CommandModule<object, ServeArguments> = {
  builder: (argv) =>
    declareOptions(argv, options, {
      exclusive: ['sample', 'data', 'warehouse'],
      examples: [
        ['$0 serve --sample', 'sample figures on http://127.0.0.1:8080'],
        ['$0 serve --data figures --api-keys-file keys.txt', 'your own records'],
        ['REKAP_API_KEYS=… $0 serve --warehouse data/warehouse', 'a mirror of what was synced'],
        ['$0 serve --sample --faults clamp=50,429=0.1', 'a service that misbehaves, for testing your own pipeline'],
      ],
    }).epilogue(
      `Faults: P is a rate from 0 (never) to 1 (always), N a number of records.\n${listFaults(widthOf(process.stdout) - 1)}`,
    ),
  handler: runServe,
};

async function runServe(args: ServeArguments): Promise<void> {
  const given = [
    args.sample ? '--sample' : '',
    args.data === undefined ? '' : '--data',
    args.warehouse === undefined ? '' : '--warehouse',
  ].filter((name) => name !== '');
  if (given.length !== 1) {
    throw new RekapError(
      'usage',
      given.length === 0 ? 'There is nothing to serve.' : `${given.join(' and ')} exclude each other.`,
      'Give one of --sample, --data DIR and --warehouse DIR.',
    );
  }
  const port = requireInteger('port', args.port, 0, 65_535);
  const maxLimit = requireInteger('max-limit', args['max-limit'], 1, 1_000_000);
  const rateLimit =
    args['rate-limit'] === undefined ? undefined : requireInteger('rate-limit', args['rate-limit'], 1, 1_000_000);
  const met = new Map<FaultName, number>();
  const faults = await readFaults(args, met);

  const [
    { loadProject },
    { startService },
    { generateApiKey, readApiKeys },
    { openFolderSource },
    { openWarehouseSource },
    { listenForSignals },
    { fitConnections },
  ] = await Promise.all([
    import('../../pipelines/index.ts'),
    import('../serve/service.ts'),
    import('../serve/api-keys.ts'),
    import('../serve/record-source.ts'),
    import('../serve/warehouse-source.ts'),
    import('./signals.ts'),
    import('../serve/limits.ts'),
  ]);
  const { pipelines, sampleFolder } = loadProject();
  const keyText = readKeyText(args['api-keys-file']);
  if (keyText === null && !args.sample) {
    throw new RekapError(
      'usage',
      'There is no API key that the service should accept.',
      'Set REKAP_API_KEYS, or name a file with one key per line with --api-keys-file.',
    );
  }
  const madeKey = keyText === null && args.sample ? generateApiKey() : null;
  const keys = readApiKeys(madeKey ?? keyText?.text ?? '', keyText?.whence ?? 'REKAP_API_KEYS');
  const source =
    args.warehouse === undefined
      ? await openFolderSource(args.data ?? sampleFolder, pipelines)
      : await openWarehouseSource(args.warehouse, pipelines, {
          onFailure: (error) => printFailure('the new snapshot cannot be served, the one before stays', error),
        });
  const signals = listenForSignals();
  try {
    const service = await startService({
      pipelines,
      source,
      keys,
      host: args.host,
      port,
      maxLimit,
      rateLimit,
      faults,
      maxConnections: fitConnections(readOpenFilesLimit()),
      onFailure: (error) => printFailure('a request could not be answered', error),
    });
    const served = pipelines.map((pipeline) => ({ ...pipeline, records: source.current(pipeline).records.length }));
    process.stdout.write(describeService(service.url, await nameServed(args), served, madeKey, faults));
    if (!isLoopback(args.host)) process.stderr.write(warningText(beyondThisMachine, process.stderr));
    await new Promise<void>((resolve) => {
      if (signals.signal.aborted) resolve();
      signals.signal.addEventListener('abort', () => resolve(), { once: true });
    });
    await service.close();
    if (faults !== undefined) process.stdout.write(`\n${countFaults(faults.values, met)}\n`);
  } finally {
    await source.close();
    signals.stop();
  }
}

function readKeyText(file: string | undefined): { text: string; whence: string } | null {
  if (file === undefined) {
    const text = process.env['REKAP_API_KEYS'];
    return text === undefined || text === '' ? null : { text: text.replaceAll(',', '\n'), whence: 'REKAP_API_KEYS' };
  }
  try {
    return { text: readFileSync(file, 'utf8'), whence: file };
  } catch (error) {
    throw new RekapError(
      'usage',
      `The file of API keys ${file} cannot be read: ${systemReason(error)}.`,
      'Correct --api-keys-file.',
      {
        cause: error,
      },
    );
  }
}

/** What the faults options say, with a seed of its own where none is given; `met` is where faults are counted. */
async function readFaults(args: ServeArguments, met: Map<FaultName, number>): Promise<FaultSettings | undefined> {
  const seed = args['faults-seed'];
  if (args.faults === undefined) {
    if (seed === undefined) return undefined;
    throw new RekapError(
      'usage',
      '--faults-seed does nothing by itself.',
      'Name faults with --faults, or leave it out.',
    );
  }
  const [{ randomInt }, { systemClock }] = await Promise.all([import('node:crypto'), import('../runtime/context.ts')]);
  return {
    values: parseFaults(args.faults.join(',')),
    seed: seed === undefined ? randomInt(1, 1_000_000) : requireInteger('faults-seed', seed, 0, 2_147_483_647),
    clock: systemClock,
    onFault: (name) => met.set(name, (met.get(name) ?? 0) + 1),
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
  return `the current snapshot of ${warehouse}${source === undefined ? '' : `, from ${nameSource(source)}`}`;
}

const beyondThisMachine =
  'Others can reach this service, and keys and figures travel unencrypted: put a server that speaks TLS in front of it.';

/** An endpoint that is served, and how many records it has. */
interface Served {
  readonly endpoint: string;
  readonly districtParameter: string;
  readonly records: number;
}

function describeService(
  url: string,
  what: string,
  endpoints: readonly Served[],
  madeKey: string | null,
  faults: FaultSettings | undefined,
): string {
  const first = endpoints[0]!;
  const rows = endpoints.map(({ endpoint, records }) => [url + endpoint, countOf(records, 'record')] as const);
  const lines = [`Serving ${printable(what)}`, ...inColumns(rows, Number.POSITIVE_INFINITY), `  ${url}/openapi.json`];
  if (madeKey !== null) {
    lines.push(
      '',
      'API key for this run:',
      `  ${madeKey}`,
      '',
      'Try it:',
      `  curl -H 'x-api-key: ${madeKey}' \\`,
      `    '${url}${first.endpoint}?${first.districtParameter}=1101'`,
    );
  }
  if (faults !== undefined) lines.push('', describeFaults(faults.values, faults.seed, widthOf(process.stdout)));
  lines.push('', 'Ctrl-C stops it.', '');
  return lines.join('\n');
}

/** The bound on open files; null where the system has none or does not tell. */
export function readOpenFilesLimit(): number | null {
  try {
    // A report would otherwise look up the names of all network neighbours.
    Object.assign(process.report, { excludeNetwork: true });
    const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft?: unknown } } };
    const soft = Number(userLimits?.open_files?.soft);
    return Number.isInteger(soft) && soft > 0 ? soft : null;
  } catch {
    return null;
  }
}
