/** Gets tokens with the client credentials of OAuth 2 (RFC 6749, section 4.4). A token stays in memory. */

import type { RekapError } from '../errors.ts';
import { Secret } from './secret.ts';

/** A client of OAuth 2. */
export interface Client {
  readonly id: string;
  readonly secret: Secret;
  /** Endpoint that returns tokens. */
  readonly url: string;
  readonly scope?: string | undefined;
  readonly audience?: string | undefined;
}

interface TokenResponse {
  readonly status: number;
  readonly text: string;
}

/** Sends requests to the endpoint, and explains its refusals. */
interface TokenContext {
  /** Sends a form without following redirects, which could send the secret elsewhere. */
  post(url: string, form: URLSearchParams, headers: Readonly<Record<string, string>>): Promise<TokenResponse>;
  refused(why: string): RekapError;
  /** Returns the error to throw if the endpoint doesn't answer, or fails. */
  unreachable(error: unknown): unknown;
  /** Milliseconds of a clock that never goes back. */
  now(): number;
}

/** Returns the current token, or another one after the source rejected this one. */
export type Tokens = (rejected: Secret | null) => Promise<Secret>;

/** A token is renewed before its last tenth, so that it doesn't end during a request. */
const lifeUsed = 0.9;

interface Token {
  readonly secret: Secret;
  readonly until: number;
}

/** Gets a token on first use, before it ends, and once for all requests that it was rejected for. */
export function tokensOf(client: Client, context: TokenContext): Tokens {
  let current: Promise<Token> | null = null;
  const renew = (): Promise<Token> => {
    current = fetchToken(client, context);
    current.catch(() => (current = null));
    return current;
  };
  return async (rejected) => {
    const token = await (current ?? renew());
    if (token.secret !== rejected && context.now() < token.until) return token.secret;
    // Another request may have renewed it meanwhile.
    const latest = await (current ?? renew());
    return (latest === token ? await renew() : latest).secret;
  };
}

async function fetchToken(client: Client, context: TokenContext): Promise<Token> {
  const { id, secret, url, scope, audience } = client;
  const { post, refused, unreachable, now } = context;
  const form = {
    grant_type: 'client_credentials',
    ...(scope !== undefined && { scope }),
    ...(audience !== undefined && { audience }),
  };
  const send = (fields: Record<string, string>, headers = {}): Promise<TokenResponse> =>
    post(url, new URLSearchParams(fields), headers).catch((error: unknown) => {
      throw unreachable(error);
    });
  const begun = now();
  let found = await send({ ...form, client_id: id, client_secret: secret.reveal() });
  // Some servers read the credentials only in the header.
  if (found.status === 400 || found.status === 401) {
    const basic = [id, secret.reveal()].map(encodeURIComponent).join(':');
    found = await send(form, { authorization: `Basic ${Buffer.from(basic).toString('base64')}` });
  }
  if (found.status >= 500) throw unreachable(new Error(`status ${found.status}`));
  if (found.status >= 300) throw refused(`status ${found.status}${errorIn(found.text)}`);
  const { access_token: token, expires_in: life } = parse(found.text);
  if (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token)) throw refused('its response has no access_token');
  const seconds = Number(life);
  return {
    secret: new Secret(token),
    until: seconds > 0 ? begun + seconds * 1000 * lifeUsed : Number.POSITIVE_INFINITY,
  };
}

function errorIn(text: string): string {
  const { error } = parse(text);
  return typeof error === 'string' && /^[\w-]{1,40}$/.test(error) ? ` (${error})` : '';
}

function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
