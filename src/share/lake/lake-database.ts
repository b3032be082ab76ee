/** Opens a DuckDB instance with the Iceberg extension, which reads and writes only the tables of a catalog and the files of a snapshot. */

import { readdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { messageOf, RekapError } from '../../errors.ts';
import { type Database, openDatabase, quoteIdentifier, quoteText } from '../../runtime/database.ts';
import { isLoopback } from '../../source/base-url.ts';
import type { CatalogSettings } from './catalog.ts';
import type { Relay } from './relay.ts';

/** Where the tables are, and how DuckDB opens them. */
export interface LakePlace {
  readonly catalog: CatalogSettings;
  /** Folder with DuckDB's extensions, at any depth; null for DuckDB's own. */
  readonly extensions: string | null;
  /** Memory limit of DuckDB in bytes. */
  readonly memory: number;
  /** Environment variables with the credentials of the object store: AWS_ACCESS_KEY_ID and so on. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

const extensions = ['avro', 'httpfs', 'iceberg'] as const;

/** Name of the attached catalog in SQL. */
const attached = 'lake';

export function lakeTableSql(namespace: string, table: string): string {
  return `${attached}.${quoteIdentifier(namespace)}.${quoteIdentifier(table)}`;
}

/**
 * Opens the instance, loads the extensions, and attaches the catalog.
 * @param spill Folder for data that doesn't fit into memory.
 * @throws `configuration` if an extension is missing.
 */
export async function openLake(relay: Relay, place: LakePlace, spill: string): Promise<Database> {
  const { warehouse, signal } = place.catalog;
  const database = await openDatabase(':memory:', {
    settings: { temp_directory: spill, memory_limit: `${place.memory}B` },
    signal,
  });
  try {
    await loadExtensions(database, place.extensions ?? join(homedir(), '.duckdb', 'extensions'));
    // The catalog may take a minute for a commit. rekap sorts the rows of sorted tables itself.
    await database.run('SET http_timeout = 600; SET unsafe_iceberg_ignore_sort_order = true');
    await database.run(`CREATE SECRET catalog (TYPE iceberg, TOKEN ${quoteText(relay.token)})`);
    const isOwn = await createStorageSecret(database, place.environment);
    // Otherwise DuckDB would replace the credentials by those that the catalog gives, even if there are none.
    const access = isOwn ? ", ACCESS_DELEGATION_MODE 'none'" : '';
    await database.run(
      `ATTACH ${quoteText(warehouse ?? '')} AS ${attached} (TYPE iceberg, ENDPOINT ${quoteText(relay.url)}, SECRET catalog${access})`,
    );
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * Limits the instance to files, and to the locations of tables, which end without a slash. A catalog could name any path of this machine.
 * @throws `lake` if a table is in a local folder, but the catalog isn't on this machine.
 */
export async function sealLake(
  database: Database,
  catalog: string,
  { locations, files }: { readonly locations: readonly string[]; readonly files: readonly string[] },
): Promise<void> {
  // DuckDB treats unknown schemes as local paths.
  const local = locations.find(
    (location) =>
      !/^(s3|s3a|s3n|gs|gcs|r2|az|azure|abfss|https?):\/\//.test(location) || location.split('/').includes('..'),
  );
  if (local !== undefined && !isLoopback(new URL(catalog).hostname)) {
    const what = `The catalog ${catalog} has a table in ${local}, which would be a folder of this machine.`;
    const next = 'Use a catalog whose tables are in an object store, such as s3://bucket/prefix.';
    throw new RekapError('lake', what, next);
  }
  const list = (paths: readonly string[]): string => `[${paths.map(quoteText).join(', ')}]`;
  await database.run(
    `SET allowed_directories = ${list(locations.map((location) => `${location}/`))}; SET allowed_paths = ${list(files)};
     SET enable_external_access = false; SET lock_configuration = true`,
  );
}

async function loadExtensions(database: Database, folder: string): Promise<void> {
  const [version] = await database.rows<{ library_version: string; platform: string }>(
    'SELECT library_version, (FROM pragma_platform()) AS platform FROM pragma_version()',
  );
  const { library_version: wanted } = version!;
  const found = await readdir(folder, { recursive: true }).catch(() => []);
  for (const name of extensions) {
    const paths = found.filter((path) => path.endsWith(`${name}.duckdb_extension`));
    const path = paths.find((one) => one.split(/[/\\]/).includes(wanted)) ?? paths[0];
    if (path === undefined) {
      const next = `Install it: pip install --target ${JSON.stringify(folder)} ${extensions.map((one) => `duckdb-extension-${one}==${wanted.slice(1)}`).join(' ')} (or in DuckDB ${wanted.slice(1)}: INSTALL iceberg; INSTALL avro; INSTALL httpfs). For another folder, add --extensions.`;
      throw new RekapError('configuration', `${folder} does not contain DuckDB's extension ${name} (${wanted}).`, next);
    }
    try {
      await database.run(`LOAD ${quoteText(join(folder, path))}`);
    } catch (error) {
      const what = `DuckDB cannot load its extension ${join(folder, path)}: ${messageOf(error).split('\n')[0]}`;
      const next = `Install the version for DuckDB ${wanted.slice(1)}.`;
      throw new RekapError('configuration', what, next, { cause: error });
    }
  }
}

/** Gives DuckDB the credentials of the object store from the standard AWS variables. Returns false if there are none. */
async function createStorageSecret(database: Database, env: LakePlace['environment']): Promise<boolean> {
  const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret, AWS_SESSION_TOKEN: session } = env;
  if (!id || !secret) return false;
  const endpoint = env['AWS_ENDPOINT_URL_S3'] || env['AWS_ENDPOINT_URL'] || '';
  if (endpoint !== '' && !/^https?:\/\/[^/]+/.test(endpoint)) {
    const what = 'AWS_ENDPOINT_URL_S3 is not the URL of an object store.';
    throw new RekapError('configuration', what, 'Use a URL such as https://store.example.');
  }
  const parts = [`KEY_ID ${quoteText(id)}`, `SECRET ${quoteText(secret)}`];
  if (session) parts.push(`SESSION_TOKEN ${quoteText(session)}`);
  const region = env['AWS_REGION'] || env['AWS_DEFAULT_REGION'];
  if (region) parts.push(`REGION ${quoteText(region)}`);
  if (endpoint !== '') {
    const { host, protocol } = new URL(endpoint);
    parts.push(`ENDPOINT ${quoteText(host)}`, "URL_STYLE 'path'", `USE_SSL ${protocol === 'https:'}`);
  }
  try {
    await database.run(`CREATE SECRET storage (TYPE s3, ${parts.join(', ')})`);
    return true;
  } catch {
    // DuckDB's message could contain the credentials.
    const next = 'Check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and AWS_ENDPOINT_URL_S3.';
    throw new RekapError('configuration', 'DuckDB does not accept the credentials of the object store.', next);
  }
}
