/** Probes an endpoint: finds its envelope, paging, columns, key and partitions with a few requests. */

import { isUtf8 } from 'node:buffer';
import { RekapError } from '../errors.ts';
import type { Auth } from '../project/declaration.ts';
import { boundSignal } from '../runtime/bound-signal.ts';
import type { Clock } from '../runtime/context.ts';
import { countOf } from '../runtime/text.ts';
import { beginsAsJson, type BodyProblem, describeBody, excerpt } from '../source/body-problems.ts';
import { JsonText, ScanError } from '../source/decode/json-text.ts';
import { createHttpTransport } from '../source/http-transport.ts';
import type { Secret } from '../source/secret.ts';
import { headerText } from '../source/source-messages.ts';
import { findColumns, nameColumn, type ProbedColumn, type ProbedColumns } from './columns.ts';
import { type Envelope, findEnvelope, parseBody, type ProbedRecord } from './envelope.ts';
import { findKeys, findPartition, type FoundPartition, type KeyCandidate } from './key.ts';
import { type FoundPaging, openList, pagingNames } from './listing.ts';
import { findPaging } from './paging.ts';
import { type ProbeResponse, Prober, type ProbeRequest } from './prober.ts';

export interface ProbeOptions {
  /** URL of the list, with any query parameters that it needs. */
  readonly url: string;
  readonly auth: Auth | null;
  readonly apiKey: Secret;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Maximum milliseconds for the whole probe. */
  readonly maxDuration: number;
}

export interface Probe extends ProbedColumns {
  readonly origin: string;
  readonly path: string;
  readonly table: string;
  /** Parameters of every request. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly auth: Auth | null;
  readonly envelope: Envelope;
  readonly paging: FoundPaging;
  readonly partition: FoundPartition | null;
  readonly keys: readonly KeyCandidate[];
  readonly records: readonly ProbedRecord[];
  readonly requests: readonly ProbeRequest[];
}

/** A parameter with such a name is a key, which belongs into REKAP_API_KEY. */
const keyNames = /^(api[_-]?key|key|token|access[_-]?token|auth|secret|password|signature)$/i;

/** @throws `usage` if the URL can't be probed; errors of the source if it refuses; `envelope` if it returns no records; `run-timeout`. */
export async function probe(options: ProbeOptions): Promise<Probe> {
  const { origin, pathname, searchParams } = readUrl(options.url);
  const transport = createHttpTransport({
    ...options,
    baseUrl: origin,
    connections: 1,
    timeout: 30_000,
    maxResponseBytes: 64 * 1024 * 1024,
  });
  const bound = boundSignal(options.signal, options.maxDuration, () => tookTooLong(options, prober.requests.length));
  const prober = new Prober({ ...options, signal: bound.signal, transport, origin });
  try {
    const fixed = new Map([...searchParams].filter(([name]) => !pagingNames.has(name)));
    const given = new Set([...searchParams.keys()].filter((name) => pagingNames.has(name)));
    const query = searchParams.toString();
    const first = await prober.get(query === '' ? pathname : `${pathname}?${query}`);
    if (first === null || first.status !== 200) throw refusal(options, first?.status ?? 0, first?.headers ?? {});
    const parsed = isUtf8(first.body) ? parseBody(first.text) : null;
    const envelope = parsed === null ? null : findEnvelope(parsed);
    if (envelope === null) throw noRecords(origin + pathname, parsed === null ? first.body : null);
    prober.note(first.target, `${envelope.format === 'json' ? 'JSON' : 'NDJSON'} with ${envelope.why}`);
    const list = openList({ prober, origin, path: pathname, fixed, envelope, first, given });
    const paging = await findPaging(list);
    const { columns, skipped } = findColumns(paging.records, [...prober.responses], envelope);
    const partition = await findPartition(list, columns, paging);
    if (partition !== null) fixed.delete(partition.parameter);
    const keys = findKeys(columns, partition?.column ?? null);
    const { reportedCount: count, ...uncounted } = envelope;
    // A number below the number of records that came counts those of one page.
    const isTotal = count !== undefined && count.value >= paging.records.length;
    return {
      origin,
      path: pathname,
      table: nameTable(pathname),
      parameters: Object.fromEntries(fixed),
      auth: options.auth,
      envelope: isTotal ? envelope : uncounted,
      paging,
      partition,
      keys,
      columns: columns.map((column) => asKeyColumn(column, keys[0]?.columns ?? [])),
      skipped,
      records: paging.records,
      requests: prober.requests,
    };
  } finally {
    bound.end();
    await transport.close();
  }
}

function tookTooLong({ maxDuration }: ProbeOptions, completed: number): RekapError {
  const what = `The probe did not finish within ${Math.round(maxDuration / 1000)} s. It completed ${countOf(completed, 'request')}.`;
  const next = 'Allow more time with --max-duration, or request fewer records in the URL, such as with limit=10.';
  return new RekapError('run-timeout', what, next);
}

/** Returns what the probe could not confirm, and why a sync of the draft may not be complete. */
export function findDoubts({ paging, keys: [key], records }: Pick<Probe, 'paging' | 'keys' | 'records'>): string[] {
  const different = key?.different ?? 0;
  const repeats = `only ${different} of ${records.length} records have different values in the key`;
  return [...paging.guesses, ...(different === records.length ? [] : [repeats])];
}

/** Declares a count in the key as an integer, because identifiers aren't summed. */
function asKeyColumn(column: ProbedColumn, key: readonly string[]): ProbedColumn {
  if (column.definition.kind !== 'count' || !key.includes(column.name)) return column;
  const definition = { ...column.definition, kind: 'integer' } as const;
  return { ...column, definition, why: `${column.why}, and it is in the key` };
}

function readUrl(given: string): URL {
  if (!URL.canParse(given) || !/^https?:$/.test(new URL(given).protocol)) {
    const what = `${JSON.stringify(given)} is not a URL.`;
    throw new RekapError('usage', what, 'Give the URL of a list, such as https://host/v1/stations.');
  }
  const url = new URL(given);
  if (url.username !== '' || url.password !== '') {
    const next = 'Remove them, set them as user:password in REKAP_API_KEY, and add --auth basic.';
    throw new RekapError('usage', 'The URL contains a user name or a password.', next);
  }
  const key = [...url.searchParams.keys()].find((name) => keyNames.test(name));
  if (key !== undefined) {
    const what = `The URL contains the parameter ${key}, which looks like a key.`;
    throw new RekapError('usage', what, `Remove it, set the key in REKAP_API_KEY, and add --auth query:${key}.`);
  }
  if (url.pathname === '/')
    throw new RekapError('usage', 'The URL has no path.', 'Give the URL of a list, such as https://host/v1/stations.');
  return url;
}

function refusal({ auth, url, apiKey }: ProbeOptions, status: number, headers: ProbeResponse['headers']): RekapError {
  const { origin, pathname, search } = new URL(url);
  const location = headerText(headers['location']);
  if (status >= 300 && status < 400 && location !== null && URL.canParse(location, url)) {
    const target = new URL(location, url);
    const shown = apiKey.redact(target.origin + target.pathname);
    const what = `${origin}${pathname} redirects to ${shown} (status ${status}), and rekap does not follow redirects.`;
    const next = `If you trust that address, run "rekap probe ${shown}${search}".`;
    return new RekapError('source-status', what, next, { status });
  }
  if (status !== 401 && status !== 403) {
    const what = `${origin}${pathname} responded with ${status === 0 ? 'nothing' : `status ${status}`}.`;
    const next = 'Check the URL, and the parameters that the list requires.';
    return new RekapError('source-status', what, next, { status });
  }
  const challenge = headerText(headers['www-authenticate']);
  const scheme = challenge !== null ? ` It requires ${challenge.split(/[ ,]/)[0]}.` : '';
  const what =
    auth === null
      ? `${origin} requires a key (status ${status}).${scheme}`
      : `${origin} refused the key (status ${status}).${scheme}`;
  const next =
    'Set the key in REKAP_API_KEY, and add --auth bearer, --auth basic, --auth header:NAME or --auth query:NAME.';
  return new RekapError('source-refused-key', what, next, { status });
}

/** @param body Null if it is JSON. */
function noRecords(url: string, body: Buffer | null): RekapError {
  if (body === null) {
    const what = `The response of ${url} contains no records.`;
    return new RekapError('envelope', what, 'Give a URL whose response has records.');
  }
  const problem = beginsAsJson(body) ? findProblem(body) : null;
  if (problem !== null) return new RekapError('envelope', `The response of ${url} ${problem.what}`, problem.next);
  const what = `The response of ${url} is neither JSON nor a JSON record per line. It starts with: ${excerpt(body).slice(0, 60)}`;
  const next =
    'rekap reads JSON and NDJSON. Some services return them for another path, or for a parameter such as format=json.';
  return new RekapError('envelope', what, next);
}

function findProblem(body: Buffer): BodyProblem | null {
  try {
    const text = new JsonText(body);
    text.skipSpace();
    text.passValue(1);
    return null;
  } catch (error) {
    if (error instanceof ScanError) return describeBody(body, error, 'json');
    throw error;
  }
}

function nameTable(path: string): string {
  const last = decodeURIComponent(path.split('/').findLast((part) => part !== '')!);
  return nameColumn(last.replace(/\.(json|ndjson|jsonl)$/i, ''), new Set());
}
