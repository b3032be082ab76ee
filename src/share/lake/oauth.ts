/** Signs in to a catalog: with a bearer token, or with the client credentials of OAuth 2. */

import { messageOf, RekapError } from '../../errors.ts';
import { Secret } from '../../source/secret.ts';
import type { CatalogSettings } from './catalog.ts';
import { exchange } from './exchange.ts';

/** A client of OAuth 2. */
export interface Client {
  readonly id: string;
  readonly secret: Secret;
  /** Endpoint that returns tokens. */
  readonly url: string;
  readonly scope: string;
}

const timeout = 30_000;

/** Returns a function that fetches a token on first use, and another one after a 401. */
export function tokensOf(client: Client): NonNullable<CatalogSettings['token']> {
  let current: Promise<Secret> | null = null;
  return (isExpired) => {
    if (isExpired || current === null) {
      current = fetchToken(client);
      current.catch(() => (current = null));
    }
    return current;
  };
}

/** @throws `lake` if the endpoint returns no token. */
async function fetchToken({ id, secret, url, scope }: Client): Promise<Secret> {
  const refused = (why: string, cause?: unknown): RekapError =>
    new RekapError(
      'lake',
      `${url} returned no token: ${why}.`,
      'Check REKAP_CATALOG_CREDENTIAL, REKAP_CATALOG_OAUTH_URL and REKAP_CATALOG_SCOPE.',
      { cause },
    );
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: id,
    client_secret: secret.reveal(),
    scope,
  });
  const found = await exchange(url, { method: 'POST', body, signal: AbortSignal.timeout(timeout) }).catch(
    (error: unknown) => {
      throw refused(messageOf(error), error);
    },
  );
  if (found.status >= 300) throw refused(`status ${found.status}`);
  const token = tokenIn(found.text);
  if (token === null) throw refused('its response has no access_token');
  return new Secret(token);
}

function tokenIn(text: string): string | null {
  try {
    const { access_token: token } = JSON.parse(text) as { access_token?: unknown };
    return typeof token === 'string' && /^[\x21-\x7e]+$/.test(token) ? token : null;
  } catch {
    return null;
  }
}
