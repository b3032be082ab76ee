/** Requests over HTTP: one pool of connections, the key in its header, and a bound on what one answer may hold. */

import type { Dispatcher } from 'undici';
import { systemCode, RekapError } from '../../errors.ts';
import type { Secret } from '../../secret.ts';
import { decompress, Pool, request } from '../../undici.ts';
import { dropInformational } from './drop-informational.ts';
import { lackOfOurs, notAsEncoded } from './source-messages.ts';
import type { Transport } from './transport.ts';

export interface HttpOptions {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly apiKey: Secret;
  readonly connections: number;
  /** Milliseconds for connecting. */
  readonly timeout: number;
  /** Bytes that one decoded answer may have. */
  readonly maxAnswerBytes: number;
}

/** One pool of connections to one host. It follows no redirect, so that the key goes nowhere else. */
export function createHttpTransport(options: HttpOptions): Transport {
  const { origin } = new URL(options.baseUrl);
  const pool = new Pool(origin, {
    connections: options.connections,
    // The whole attempt has one bound, the caller's; undici's own are off so that it alone decides.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: options.timeout },
  });
  // Error answers too: what they say is shown, and a key in them must be found.
  const dispatcher = pool.compose(dropInformational, decompress({ skipErrorResponses: false }));
  return {
    async send(_request, path, signal) {
      const response = await request
        .call(dispatcher, {
          method: 'GET',
          path,
          headers: {
            'x-api-key': options.apiKey.reveal(),
            'content-type': 'application/json',
            accept: 'application/json',
            'accept-encoding': 'gzip, br',
            'user-agent': 'rekap',
          },
          signal,
        })
        .catch((error: unknown) => {
          throw lackOfOurs(error) ?? error;
        });
      const body = await readBody(response, origin + path, options.maxAnswerBytes).catch((error: unknown) => {
        // What an error says may be encoded otherwise than it claims, as by a gateway; its status counts all the same.
        if (response.statusCode !== 200 && notAsEncoded.test(systemCode(error))) return Buffer.alloc(0);
        throw error;
      });
      return { status: response.statusCode, headers: response.headers, body, at: null };
    },
    async close() {
      await pool.destroy();
    },
  };
}

async function readBody(response: Dispatcher.ResponseData, url: string, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response.body as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) {
      throw new RekapError(
        'response-too-large',
        `The answer of ${url} is larger than ${Math.round(maxBytes / 1024 ** 2)} MB.`,
        'Ask for fewer records at a time with --page-size.',
      );
    }
    chunks.push(chunk);
  }
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, length);
}
