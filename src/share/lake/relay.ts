/**
 * Relays DuckDB's requests to the catalog, for two reasons. The token stays in this process. And if the response to a commit is lost, DuckDB
 * deletes the data files of the commit, although the catalog may have it, so rekap sends the commit itself.
 */

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { isRekapError, messageOf } from '../../errors.ts';
import type { Catalog } from './catalog.ts';
import { type CatalogResponse, parseExactly, writeExactly } from './exchange.ts';
import type { TableChange } from './iceberg.ts';

/** A server on the loopback interface for one DuckDB instance. */
export interface Relay {
  readonly url: string;
  /** The token that DuckDB sends. Other users of the machine don't know it. */
  readonly token: string;
  /** The error of the last commit; null if it succeeded. */
  readonly commitError: () => unknown;
  close(): void;
}

/** @param complete Returns all changes to commit, given DuckDB's. */
export async function openRelay(
  catalog: Catalog,
  complete: (changes: readonly TableChange[]) => readonly TableChange[],
): Promise<Relay> {
  const token = randomBytes(32).toString('hex');
  let commitError: unknown = null;

  const commit = async (body: string): Promise<CatalogResponse> => {
    try {
      const { 'table-changes': changes } = parseExactly(body) as { 'table-changes': TableChange[] };
      await catalog.commit(complete(changes));
      commitError = null;
      return { status: 204, text: '' };
    } catch (error) {
      commitError = error;
      const isRefused = isRekapError(error, 'lake-conflict') || (isRekapError(error, 'lake') && error.status > 0);
      // DuckDB deletes the data files of a refused commit. If the catalog may have it, they must stay.
      return isRefused ? refusal(409, messageOf(error)) : { status: 204, text: '' };
    }
  };
  // DuckDB repeats a request that takes long.
  const commits = new Map<string, Promise<CatalogResponse>>();

  const respond = async (request: IncomingMessage): Promise<CatalogResponse> => {
    const { method = 'GET', url = '/', headers } = request;
    if (headers.authorization !== `Bearer ${token}`) return refusal(401, 'unknown token');
    const body = await text(request);
    const path = url.split('?', 1)[0]!;
    if (method === 'POST' && path.endsWith('/transactions/commit')) {
      const begun = commits.get(body) ?? commit(body);
      commits.set(body, begun);
      return begun;
    }
    // A commit of one table wouldn't be atomic, and would not be checked.
    if (method !== 'GET' && method !== 'HEAD') return refusal(405, 'the relay only forwards requests that read');
    const access = headers['x-iceberg-access-delegation'];
    const forwarded = typeof access === 'string' ? { 'x-iceberg-access-delegation': access } : {};
    const found = await catalog.send(method, url, body === '' ? undefined : body, forwarded);
    return path === '/v1/config' && found.status === 200 ? { ...found, text: withoutUri(found.text) } : found;
  };

  const server = createServer((request, response) => {
    void respond(request)
      .catch((error: unknown) => refusal(503, messageOf(error)))
      .then((found) => write(response, found));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token,
    commitError: () => commitError,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** A catalog may name another URL for itself, to which DuckDB would send its requests directly. */
function withoutUri(config: string): string {
  const parsed = parseExactly(config) as Record<'defaults' | 'overrides', Record<string, string> | undefined>;
  for (const settings of [parsed.defaults, parsed.overrides]) delete settings?.['uri'];
  return writeExactly(parsed);
}

function refusal(code: number, message: string): CatalogResponse {
  return { status: code, text: JSON.stringify({ error: { message, type: 'RelayException', code } }) };
}

function write(response: ServerResponse, { status, text: body }: CatalogResponse): void {
  const hasBody = status !== 204;
  response.writeHead(status, hasBody ? { 'content-type': 'application/json' } : {}).end(hasBody ? body : undefined);
}
