/** Sends requests over HTTP: one pool of connections, the key in its place, and a maximum response size. */

import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import type { Dispatcher } from 'undici';
import { RekapError, systemCode } from '../errors.ts';
import type { AnyPipeline, Auth } from '../project/declaration.ts';
import { isLoopback } from './base-url.ts';
import { clientOf, credentialsOf, declaredHeaders } from './credentials.ts';
import { tokensOf } from './oauth.ts';
import type { Secret } from './secret.ts';
import { isSuccess, type PageRequest } from '../stages.ts';
import { localFailure, notAsEncoded } from './source-messages.ts';

/** A response, its body decoded from any content encoding. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** Describes a request beyond its path. */
interface RequestSettings {
  /** Another origin than that of the source. */
  readonly origin?: string;
  /** True if the key may go to the other origin. */
  readonly withKey?: boolean;
  readonly headers?: AnyPipeline['headers'];
}

export interface Transport {
  /**
   * Sends a request once. Any error that isn't a `RekapError` is a failure of the connection.
   *
   * @param path Path and query, and the body of a POST as the fragment.
   */
  send(request: PageRequest, path: string, signal: AbortSignal, settings?: RequestSettings): Promise<HttpResponse>;
  close(): Promise<void>;
}

export interface HttpOptions {
  readonly baseUrl: string;
  readonly apiKey: Secret;
  readonly auth: Auth | null;
  readonly connections: number;
  readonly timeout: number;
  readonly maxResponseBytes: number;
}

/** Opens pools of connections, through a proxy if the environment names one and the source is on another machine. Redirects aren't followed, so that the key goes nowhere else. */
export function createHttpTransport(options: HttpOptions): Transport {
  const { baseUrl, connections, timeout, maxResponseBytes } = options;
  const credentials = credentialsOf(options.auth, options.apiKey);
  const { origin: own, hostname } = new URL(baseUrl);
  // The caller limits the whole attempt, so the timeouts of undici are off.
  const timeouts = { headersTimeout: 0, bodyTimeout: 0, connect: { timeout } };
  const limits = { maxHeaderSize: 16_384, maxResponseSize: maxResponseBytes };
  const pool = requireWebAssembly()
    .then(() => import('undici'))
    .then(({ Agent, EnvHttpProxyAgent }) => {
      const settings = { connections, ...timeouts, ...limits };
      return isLoopback(hostname) ? new Agent(settings) : new EnvHttpProxyAgent(settings);
    });
  pool.catch(() => undefined);
  const client = clientOf(options.auth, options.apiKey);
  const tokens =
    client === null
      ? null
      : tokensOf(client, {
          async post(url, form, headers) {
            const { origin: at, pathname, search } = new URL(url);
            const type = { 'content-type': 'application/x-www-form-urlencoded' };
            const sent = {
              origin: at,
              path: pathname + search,
              method: 'POST',
              headers: { ...type, ...headers },
            } as const;
            const response = await (
              await pool
            ).request({ ...sent, body: String(form), signal: AbortSignal.timeout(timeout) });
            return { status: response.statusCode, text: await response.body.text() };
          },
          refused: (why) =>
            new RekapError(
              'source-refused-key',
              `${client.url} returned no token: ${why}.`,
              'Check that the API key is CLIENT_ID:CLIENT_SECRET, and "oauth2" in the declaration.',
            ),
          // The request is retried like any other.
          unreachable: (error) => error,
          now: () => performance.now(),
        });
  /** Returns the headers with the credentials. A token that the source rejected is replaced. */
  const authorize = async (rejected: Secret | null) => {
    if (tokens === null) return { token: null, headers: credentials.headers };
    const token = await tokens(rejected);
    if (!hidden.has(token)) options.apiKey.alsoHide(token.reveal());
    hidden.add(token);
    return { token, headers: { authorization: `Bearer ${token.reveal()}` } };
  };
  const hidden = new Set<Secret>();
  return {
    async send(_request, target, signal, { origin = own, withKey = origin === own, headers: declared } = {}) {
      const [path = '', body] = target.split('#');
      const post = body === undefined ? null : { method: 'POST', body: decodeURIComponent(body) };
      const headers = {
        'content-type': 'application/json',
        accept: 'application/json, application/x-ndjson',
        'accept-encoding': 'gzip, br',
        'user-agent': 'rekap',
      };
      const ofPipeline = declaredHeaders(declared, withKey ? options.apiKey : null);
      const requested = withKey ? credentials.place(path) : path;
      const sendWith = async (secrets: Readonly<Record<string, string>>) => {
        const all = { ...headers, ...secrets, ...ofPipeline };
        const asked = { method: 'GET', ...post, origin, path: requested, headers: all, signal } as const;
        const sent = pool.then((opened) => opened.request(asked));
        return sent.catch((error: unknown) => {
          throw localFailure(error) ?? error;
        });
      };
      const { token, headers: secrets } = withKey ? await authorize(null) : { token: null, headers: {} };
      let response = await sendWith(secrets);
      // The token may have ended early.
      if (response.statusCode === 401 && token !== null) {
        await response.body.dump();
        response = await sendWith((await authorize(token)).headers);
      }
      const received = await readBody(response, maxResponseBytes).catch((error: unknown) => {
        if (tooLarge.test(systemCode(error)))
          throw new RekapError(
            'response-too-large',
            `The response of ${origin}${path} is larger than ${Math.round(maxResponseBytes / 1024 ** 2)} MB.`,
            'Request fewer records at a time with a smaller --page-size, or declare the paging of the list.',
          );
        // The error page of a gateway may not match its content-encoding. Its status still counts.
        if (!isSuccess(response.statusCode) && notAsEncoded.test(systemCode(error))) return Buffer.alloc(0);
        throw error;
      });
      return { status: response.statusCode, headers: response.headers, body: received };
    },
    close: () =>
      pool.then(
        (opened) => opened.destroy(),
        () => undefined,
      ),
  };
}

declare const WebAssembly: {
  compile(module: Uint8Array): Promise<unknown>;
  Memory: new (size: { initial: number }) => unknown;
};

const emptyModule = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);

/** Fails if the system doesn't allow WebAssembly, which undici's parser needs: on load, undici would end the process without a message. */
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

/** Codes of a response that is larger than allowed: as received, and decoded. */
const tooLarge = /^(UND_ERR_RES_EXCEEDED_MAX_SIZE|ERR_BUFFER_TOO_LARGE)$/;

async function readBody({ body, headers }: Dispatcher.ResponseData, maxBytes: number): Promise<Buffer> {
  const received = await body.bytes();
  let decoded: Buffer = Buffer.from(received.buffer, received.byteOffset, received.length);
  const encodings = String(headers['content-encoding'] ?? '').toLowerCase();
  for (const encoding of encodings.split(',').toReversed()) {
    const decode = decoders[encoding.trim() as keyof typeof decoders] as (typeof decoders)['gzip'] | undefined;
    if (decode !== undefined && decoded.length > 0) decoded = await decode(decoded, { maxOutputLength: maxBytes });
  }
  // A file such as list.json.gz.
  if (decoded[0] === 0x1f && decoded[1] === 0x8b) decoded = await decoders.gzip(decoded, { maxOutputLength: maxBytes });
  return asUtf8(decoded, String(headers['content-type'] ?? ''));
}

/** Converts a body in another charset that its type names, such as windows-1252. */
function asUtf8(body: Buffer, type: string): Buffer {
  const charset = /;\s*charset\s*=\s*"?([\w-]+)/i.exec(type)?.[1] ?? 'utf-8';
  if (/^(utf-?8|us-ascii)$/i.test(charset)) return body;
  try {
    return Buffer.from(new TextDecoder(charset).decode(body));
  } catch {
    // Node doesn't know the name. The body is probably UTF-8.
    return body;
  }
}
