/** The options that say where an Iceberg catalog is, how to sign in to it, and how a command uses it. */

import { type Options, type Values, variableOf } from './options/option.ts';
import { publishOptions, readNamedFile } from './options/shared.ts';
import { withSignals } from './signals.ts';
import { RekapError } from '../errors.ts';
import { systemClock } from '../runtime/context.ts';
import type { CatalogSettings } from '../share/lake/catalog.ts';
import type { LakePlace } from '../share/lake/open-lake.ts';
import { Secret } from '../source/secret.ts';

export const catalogOptions = {
  catalog: { type: 'string', describe: 'URL of an Iceberg REST catalog, without /v1' },
  'catalog-warehouse': {
    type: 'string',
    describe: 'name of the warehouse in the catalog',
    defaultDescription: "the catalog's own",
  },
  namespace: { type: 'string', default: 'rekap', describe: 'namespace of the tables in the catalog' },
  'catalog-token-file': {
    type: 'string',
    describe: 'file with a bearer token',
    defaultDescription: 'the variable REKAP_CATALOG_TOKEN',
  },
  'catalog-credential-file': {
    type: 'string',
    describe: 'file with CLIENT_ID:CLIENT_SECRET for OAuth 2',
    defaultDescription: 'the variable REKAP_CATALOG_CREDENTIAL',
  },
  'catalog-oauth-url': {
    type: 'string',
    describe: 'URL that returns tokens for OAuth 2',
    defaultDescription: '/v1/oauth/tokens of the catalog',
  },
  'catalog-scope': { type: 'string', default: 'PRINCIPAL_ROLE:ALL', describe: 'scope of the tokens for OAuth 2' },
} as const satisfies Options;

export const lakeOptions = {
  ...catalogOptions,
  extensions: {
    type: 'string',
    path: 'folder',
    describe: "folder with DuckDB's extensions avro, httpfs and iceberg",
    defaultDescription: '~/.duckdb/extensions',
  },
} as const satisfies Options;

export const sourceOption = {
  'accept-source': {
    ...publishOptions['accept-source'],
    describe: 'allow the tables to switch to another source',
  },
} as const;

/** @throws `usage` if the URL or the namespace is missing or not valid, `configuration` if the token or the credential isn't. */
async function readCatalogSettings(args: Values<typeof catalogOptions>, signal: AbortSignal): Promise<CatalogSettings> {
  const url = readUrl('catalog', args.catalog ?? '').replace(/\/v1$/, '');
  const namespace = readNamespace(args);
  const token = await readToken(args, url);
  return { url, warehouse: args['catalog-warehouse'] ?? null, namespace, token, signal, clock: systemClock };
}

/** @throws `usage` if the namespace isn't valid. */
export function readNamespace({ namespace }: { readonly namespace: string }): string {
  if (!/^[a-z][a-z0-9_]{0,63}$/.test(namespace))
    throw new RekapError(
      'usage',
      `--namespace ${JSON.stringify(namespace)} is not valid.`,
      'Use lower-case letters, digits and underscores, such as rekap.',
    );
  if (namespace === 'raw')
    throw new RekapError(
      'usage',
      '--namespace raw contains the landed records of all projects.',
      'Choose another one.',
    );
  return namespace;
}

/** Checks the options before a sync, not after it. Throws as `readCatalogSettings` does. */
export async function checkCatalogSettings(args: Values<typeof catalogOptions>): Promise<void> {
  await readCatalogSettings(args, new AbortController().signal);
}

async function readToken(args: Values<typeof catalogOptions>, catalog: string): Promise<CatalogSettings['token']> {
  const token = await readSecret('REKAP_CATALOG_TOKEN', 'catalog-token-file', args['catalog-token-file']);
  if (token !== null) return () => Promise.resolve(new Secret(token));
  const credential = await readSecret(
    'REKAP_CATALOG_CREDENTIAL',
    'catalog-credential-file',
    args['catalog-credential-file'],
  );
  if (credential === null) return null;
  const [, id, secret] = /^([^:]+):(.+)$/.exec(credential) ?? [];
  if (id === undefined || secret === undefined)
    throw new RekapError(
      'configuration',
      'The credential of the catalog does not have the form CLIENT_ID:CLIENT_SECRET.',
      'Check REKAP_CATALOG_CREDENTIAL or --catalog-credential-file.',
    );
  const url = readUrl('catalog-oauth-url', args['catalog-oauth-url'] ?? `${catalog}/v1/oauth/tokens`);
  const { tokensOf } = await import('../share/lake/oauth.ts');
  return tokensOf({ id, secret: new Secret(secret), url, scope: args['catalog-scope'] });
}

async function readSecret(variable: string, option: string, file: string | undefined): Promise<string | null> {
  const given = file === undefined ? process.env[variable] : await readNamedFile('file', file, option);
  const text = given?.trim() ?? '';
  if (file !== undefined && text === '')
    throw new RekapError(
      'configuration',
      `The file ${file} of --${option} is empty.`,
      'Write the token or the credential to it.',
    );
  if (text === '') return null;
  if (/^[\x21-\x7e]+$/.test(text)) return text;
  throw new RekapError(
    'configuration',
    `${file === undefined ? variable : `The file ${file}`} contains characters that are not allowed in a token.`,
    'It must contain only the token or the credential, on one line.',
  );
}

function readUrl(option: string, given: string): string {
  if (given === '')
    throw new RekapError(
      'usage',
      `--${option} is missing.`,
      `Add --${option} https://…, or set ${variableOf(option)}.`,
    );
  const url = URL.canParse(given) ? new URL(given) : null;
  const isPlain = url !== null && url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (!isPlain || !/^https?:$/.test(url.protocol))
    throw new RekapError(
      'usage',
      // The URL isn't shown, because it may contain a password.
      `--${option} is not a valid URL.`,
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

async function warnOfPlainHttp(
  { 'catalog-oauth-url': tokens }: Values<typeof catalogOptions>,
  { url, token }: CatalogSettings,
): Promise<void> {
  if (token === null) return;
  const [{ isLoopback }, { warningText }] = await Promise.all([
    import('../source/base-url.ts'),
    import('./print/terminal.ts'),
  ]);
  const addresses = { '--catalog': ['token', url], '--catalog-oauth-url': ['credential', tokens] } as const;
  for (const [option, [secret, address]] of Object.entries(addresses)) {
    if (address === undefined) continue;
    const { protocol, hostname } = new URL(address);
    if (protocol === 'https:' || isLoopback(hostname)) continue;
    const message = `The ${secret} is sent to ${hostname} without encryption, because ${option} starts with http. Others on the network can read it and change the tables. Use https if the catalog supports it.`;
    process.stderr.write(warningText(message, process.stderr));
  }
}

export async function withCatalog<Value>(
  args: Values<typeof catalogOptions>,
  use: (catalog: CatalogSettings) => Promise<Value>,
): Promise<Value> {
  return withSignals({ next: afterCommit }, async (signal) => {
    const settings = await readCatalogSettings(args, signal);
    await warnOfPlainHttp(args, settings);
    return use(settings);
  });
}
