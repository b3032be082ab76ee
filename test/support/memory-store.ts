/** An S3 server in this process that keeps its objects in memory. It knows what the AWS SDK sends for a push and a pull, but not uploads in parts. */

import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { storeAt, type Store } from './object-store.ts';

export interface MemoryStore extends Store {
  /** By their keys, which begin with the prefix of the address. */
  readonly objects: Map<string, Buffer>;
  /** Every request so far, such as "PUT dpr/current.json". */
  readonly requests: string[];
  /** Gives the status to refuse a request with; null lets it through. */
  refuse: (request: string) => number | null;
}

/** Until the present test is over. */
export async function startMemoryStore(): Promise<MemoryStore> {
  const objects = new Map<string, Buffer>();
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const answer = (body: Buffer): void => {
      const { pathname, searchParams } = new URL(request.url!, 'http://store');
      const key = decodeURIComponent(pathname).replace(/^\/figures\/?/, '');
      const what = `${request.method} ${key}`;
      requests.push(what);
      const refused = store.refuse(what);
      const {
        status,
        etag,
        body: text = '',
      } = refused === null
        ? answerTo(objects, { method: request.method!, key, query: searchParams, headers: request.headers, body })
        : { status: refused, body: errorText('Refused') };
      response.writeHead(status, {
        'content-type': 'application/xml',
        'content-length': Buffer.byteLength(text),
        ...(etag === undefined ? {} : { etag }),
      });
      response.end(text);
    };
    // A client that is cut off has sent nothing.
    readBody(request).then(answer, () => response.destroy());
  }).listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  const store: MemoryStore = { ...storeAt(`http://127.0.0.1:${port}`), objects, requests, refuse: () => null };
  return store;
}

interface Request extends Pick<IncomingMessage, 'headers'> {
  readonly method: string;
  readonly key: string;
  readonly query: URLSearchParams;
  readonly body: Buffer;
}

interface Answer {
  readonly status: number;
  readonly etag?: string;
  readonly body?: string | Buffer;
}

function answerTo(objects: Map<string, Buffer>, { method, key, query, headers, body }: Request): Answer {
  const found = objects.get(key);
  if (method === 'GET' && key === '') return { status: 200, body: list(objects, query) };
  if (method === 'GET')
    return found === undefined
      ? { status: 404, body: errorText('NoSuchKey') }
      : { status: 200, etag: etagOf(found), body: found };
  if (method === 'POST' && query.has('delete')) {
    for (const [, doomed] of body.toString().matchAll(/<Key>(.*?)<\/Key>/g)) objects.delete(doomed!);
    return { status: 200, body: '<DeleteResult/>' };
  }
  if (method !== 'PUT') return { status: 501, body: errorText('NotImplemented') };
  const expected = headers['if-match'];
  if (expected !== undefined && found === undefined) return { status: 404, body: errorText('NoSuchKey') };
  const isRefused =
    (headers['if-none-match'] === '*' && found !== undefined) ||
    (expected !== undefined && expected !== etagOf(found!));
  if (isRefused) return { status: 412, body: errorText('PreconditionFailed') };
  objects.set(key, body);
  return { status: 200, etag: etagOf(body) };
}

/** Two keys per page, so that a listing needs several pages. */
function list(objects: Map<string, Buffer>, query: URLSearchParams): string {
  const prefix = query.get('prefix') ?? '';
  const after = query.get('continuation-token') ?? '';
  const left = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).toSorted();
  const page = left
    .slice(0, 2)
    .map((key) => `<Contents><Key>${key}</Key><Size>${objects.get(key)!.length}</Size></Contents>`);
  const next = left.length > 2 ? `<NextContinuationToken>${left[1]}</NextContinuationToken>` : '';
  return `<ListBucketResult><IsTruncated>${left.length > 2}</IsTruncated>${next}${page.join('')}</ListBucketResult>`;
}

function etagOf(bytes: Buffer): string {
  return `"${createHash('md5').update(bytes).digest('hex')}"`;
}

function errorText(code: string): string {
  return `<Error><Code>${code}</Code><Message>${code}.</Message></Error>`;
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  return Buffer.concat(await request.toArray());
}
