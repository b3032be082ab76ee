/** Requests over HTTP: one pool of connections, the key in its header, and a bound on what one answer may hold. */

import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import type { Dispatcher } from 'undici';
import { RekapError, systemCode } from '../errors.ts';
import type { Auth } from '../project/declaration.ts';
import { credentialsOf } from './credentials.ts';
import type { Secret } from './secret.ts';
import type { PageRequest } from '../stages.ts';
import { lackOfOurs, notAsEncoded } from './source-messages.ts';

/** An answer as it came, its body decoded from any content encoding. */
export interface Received {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** How a request reaches its answer. */
export interface Transport {
  /** Sends one request once. What it throws is a failure of the connection, unless it is a `RekapError`. */
  send(request: PageRequest, path: string, signal: AbortSignal): Promise<Received>;
  close(): Promise<void>;
}

export interface HttpOptions {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly apiKey: Secret;
  /** Where the key goes; null for a source that takes none. */
  readonly auth: Auth | null;
  readonly connections: number;
  /** Milliseconds to connect in. */
  readonly timeout: number;
  /** Bytes that one decoded answer may have. */
  readonly maxAnswerBytes: number;
}

/** One pool of connections to one host. It follows no redirect, so that the key goes nowhere else. */
export function createHttpTransport({
  baseUrl,
  apiKey,
  auth,
  connections,
  timeout,
  maxAnswerBytes,
}: HttpOptions): Transport {
  const credentials = credentialsOf(auth, apiKey);
  const { origin } = new URL(baseUrl);
  const pool = requireWebAssembly()
    .then(() => import('undici'))
    .then(
      // The whole attempt has one bound, the caller's; undici's own are off so that it alone decides.
      ({ Pool }) => new Pool(origin, { connections, headersTimeout: 0, bodyTimeout: 0, connect: { timeout } }),
    );
  // Whoever sends a request meets its failure.
  pool.catch(() => undefined);
  return {
    async send(_request, path, signal) {
      const headers = {
        ...credentials.headers,
        'content-type': 'application/json',
        accept: 'application/json, application/x-ndjson',
        'accept-encoding': 'gzip, br',
        'user-agent': 'rekap',
      };
      const { query } = credentials;
      const requested = query === null ? path : `${path}${path.includes('?') ? '&' : '?'}${query}`;
      const sent = pool.then((opened) => opened.request({ method: 'GET', path: requested, headers, signal }));
      const response = await sent.catch((error: unknown) => {
        throw lackOfOurs(error) ?? error;
      });
      const body = await readBody(response, maxAnswerBytes).catch((error: unknown) => {
        if (error === tooLarge || systemCode(error) === 'ERR_BUFFER_TOO_LARGE')
          throw new RekapError(
            'response-too-large',
            `The response of ${origin}${path} is larger than ${Math.round(maxAnswerBytes / 1024 ** 2)} MB.`,
            'Request fewer records at a time with a smaller --page-size.',
          );
        // A gateway's error may not be encoded as it says; its status counts all the same.
        if (response.statusCode !== 200 && notAsEncoded.test(systemCode(error))) return Buffer.alloc(0);
        throw error;
      });
      return { status: response.statusCode, headers: response.headers, body };
    },
    close: () =>
      pool.then(
        (opened) => opened.destroy(),
        () => undefined,
      ),
  };
}

/** As far as it is needed here; Node's own types leave it to those of browsers. */
declare const WebAssembly: {
  compile(module: Uint8Array): Promise<unknown>;
  Memory: new (size: { initial: number }) => unknown;
};

/** The smallest module that there is. */
const emptyModule = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);

/** undici's parser is WebAssembly. Where the system grants none, undici would end the process without a word as it is loaded. */
async function requireWebAssembly(): Promise<void> {
  await WebAssembly.compile(emptyModule);
  void new WebAssembly.Memory({ initial: 1 });
}

const decoders = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
} as const;

const tooLarge = new Error('more than the maximum size of a response');

async function readBody({ body, headers }: Dispatcher.ResponseData, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) throw tooLarge;
    chunks.push(chunk);
  }
  let decoded = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, length);
  const encodings = String(headers['content-encoding'] ?? '').toLowerCase();
  for (const encoding of encodings.split(',').toReversed()) {
    const decode = decoders[encoding.trim() as keyof typeof decoders] as (typeof decoders)['gzip'] | undefined;
    if (decode !== undefined && decoded.length > 0) decoded = await decode(decoded, { maxOutputLength: maxBytes });
  }
  return decoded;
}
