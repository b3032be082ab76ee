/** The options that say where an Iceberg catalog is, how to sign in to it, and how a command uses it. */

import { configurationError, usageError } from './options/usage-error.ts';
import { pick } from './options/all-options.ts';
import type { Values } from './options/option.ts';
import { printWarning } from './print/terminal.ts';
import { withSignals } from './signals.ts';
import { messageOf, RekapError } from '../errors.ts';
import { systemClock } from '../runtime/context.ts';
import type { CatalogSettings } from '../share/lake/catalog.ts';
import type { LakePlace } from '../share/lake/lake-database.ts';
import { isLoopback } from '../source/base-url.ts';
import { Secret } from '../source/secret.ts';

export const catalogOptions = pick('catalog', 'catalog-warehouse', 'namespace');

export const lakeOptions = { ...catalogOptions, ...pick('extensions') } as const;

/** @throws `usage` if the URL or the namespace is missing or not valid, `configuration` if the token or the credential isn't. */
async function readCatalogSettings(args: Values<typeof catalogOptions>, signal: AbortSignal): Promise<CatalogSettings> {
  const url = readUrl('--catalog', args.catalog ?? '').replace(/\/v1$/, '');
  const namespace = readNamespace(args);
  const token = await readToken(url);
  return { url, warehouse: args['catalog-warehouse'] ?? null, namespace, token, signal, clock: systemClock };
}

/** @throws `usage` if the namespace isn't valid. */
export function readNamespace({ namespace }: { readonly namespace: string }): string {
  if (!/^[a-z][a-z0-9_]{0,63}$/.test(namespace))
    throw usageError(
      `--namespace ${JSON.stringify(namespace)} is not valid.`,
      'Use lower-case letters, digits and underscores, such as rekap.',
    );
  if (namespace === 'raw')
    throw usageError('--namespace raw contains the landed records of all projects.', 'Choose another one.');
  return namespace;
}

/** Checks the options before a sync, not after it. Throws as `readCatalogSettings` does. */
export async function checkCatalogSettings(args: Values<typeof catalogOptions>): Promise<void> {
  await readCatalogSettings(args, new AbortController().signal);
}

const tokenTimeout = 30_000;

async function readToken(catalog: string): Promise<CatalogSettings['token']> {
  const token = readSecret('REKAP_CATALOG_TOKEN');
  if (token !== null) return () => Promise.resolve(new Secret(token));
  const credential = readSecret('REKAP_CATALOG_CREDENTIAL');
  if (credential === null) return null;
  const [, id, secret] = /^([^:]+):(.+)$/.exec(credential) ?? [];
  if (id === undefined || secret === undefined)
    throw configurationError(
      'The credential of the catalog does not have the form CLIENT_ID:CLIENT_SECRET.',
      'Correct REKAP_CATALOG_CREDENTIAL.',
    );
  const url = oauthUrl() ?? `${catalog}/v1/oauth/tokens`;
  const [{ tokensOf }, { exchange }] = await Promise.all([
    import('../source/oauth.ts'),
    import('../share/lake/exchange.ts'),
  ]);
  const scope = process.env['REKAP_CATALOG_SCOPE'] || 'PRINCIPAL_ROLE:ALL';
  const refused = (why: string, cause?: unknown): RekapError =>
    new RekapError(
      'lake',
      `${url} returned no token: ${why}.`,
      'Check REKAP_CATALOG_CREDENTIAL, REKAP_CATALOG_OAUTH_URL and REKAP_CATALOG_SCOPE.',
      { cause },
    );
  return tokensOf(
    { id, secret: new Secret(secret), url, scope },
    {
      post: (address, body, headers) =>
        exchange(address, { method: 'POST', body, headers, signal: AbortSignal.timeout(tokenTimeout) }),
      refused,
      unreachable: (error) => refused(messageOf(error), error),
      now: () => systemClock.monotonic(),
    },
  );
}

/** Returns the URL that returns tokens for OAuth 2; null for that of the catalog. */
function oauthUrl(): string | null {
  const given = process.env['REKAP_CATALOG_OAUTH_URL'] ?? '';
  return given === '' ? null : readUrl('REKAP_CATALOG_OAUTH_URL', given);
}

function readSecret(variable: string): string | null {
  const text = process.env[variable]?.trim() ?? '';
  if (text === '') return null;
  if (/^[\x21-\x7e]+$/.test(text)) return text;
  throw configurationError(
    `${variable} contains characters that are not allowed in a token.`,
    'It must contain only the token or the credential, on one line.',
  );
}

function readUrl(option: string, given: string): string {
  if (given === '') throw usageError(`${option} is missing.`, 'Add --catalog https://…, or set REKAP_CATALOG.');
  const url = URL.canParse(given) ? new URL(given) : null;
  const isPlain = url !== null && url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (!isPlain || !/^https?:$/.test(url.protocol))
    throw usageError(
      // The URL isn't shown, because it may contain a password.
      `${option} is not a valid URL.`,
      'Use a URL such as https://catalog.example/api/catalog, without a user name, a password or a query.',
    );
  return url.origin + url.pathname.replace(/\/+$/, '');
}

const afterCommit =
  'If the commit was already sent, all tables have changed; otherwise none. To see which, run "rekap lake status".';

/** Memory of DuckDB in bytes. It holds a hash of every row of the largest table, and spills what doesn't fit. */
const memory = 512e6;

export function placeOf(catalog: CatalogSettings, extensions: string | undefined): LakePlace {
  return { catalog, extensions: extensions ?? null, memory, environment: process.env };
}

function warnOfPlainHttp({ url, token }: CatalogSettings): void {
  if (token === null) return;
  const addresses = { '--catalog': ['token', url], REKAP_CATALOG_OAUTH_URL: ['credential', oauthUrl()] } as const;
  for (const [option, [secret, address]] of Object.entries(addresses)) {
    if (address === null) continue;
    const { protocol, hostname } = new URL(address);
    if (protocol === 'https:' || isLoopback(hostname)) continue;
    printWarning(
      `The ${secret} is sent to ${hostname} without encryption, because ${option} starts with http. Others on the network can read it and change the tables. Use https if the catalog supports it.`,
    );
  }
}

export async function withCatalog<Value>(
  args: Values<typeof catalogOptions>,
  use: (catalog: CatalogSettings) => Promise<Value>,
): Promise<Value> {
  return withSignals({ next: afterCommit }, async (signal) => {
    const settings = await readCatalogSettings(args, signal);
    warnOfPlainHttp(settings);
    return use(settings);
  });
}
