/** Verifies that the manifest, the files, the DuckDB file and the Parquet files of a snapshot agree. */

import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { Database } from '../runtime/database.ts';
import { memoryToRead, openPublished } from '../warehouse/open-published.ts';
import { findAltered, sizeMismatch, describeReadError } from '../warehouse/check-files.ts';
import { databaseFile, type Manifest, manifestFile, manifestHashFile } from '../warehouse/snapshot-format.ts';
import { ledgerProblems } from './gate.ts';
import { manifestHashLine } from './manifest.ts';
import { openForParquet } from './parquet-contents.ts';
import {
  columnsAgree,
  partitionsComplete,
  countsAgree,
  figuresAgree,
  relationsAgree,
  rowsAgree,
  type Subject,
  type TableCheck,
  typesAgree,
} from './verify-tables.ts';
import { isRekapError, messageOf, explainSystemLimit } from '../errors.ts';

type FileCheck = (subject: Subject) => Promise<string[]> | string[];

/** If a group finds problems, later groups are skipped, because they would report the same problems less clearly. */
const checks = {
  glance: [sizesAgree, noOtherFiles],
  built: [sizesAgree, noOtherFiles, ledgersBalance],
  published: [hashesAgree, noOtherFiles, ledgersBalance],
  tables: [[relationsAgree], [figuresAgree, partitionsComplete, columnsAgree, countsAgree], [typesAgree], [rowsAgree]],
} satisfies Record<string, readonly FileCheck[] | readonly (readonly TableCheck[])[]>;

/**
 * Reads every byte of a published snapshot, and returns all problems as sentences.
 * @param declared The definitions of its tables and views, if this release built the snapshot.
 * @param signal Its reason is thrown.
 * @throws `database-held` if the files are intact but another program locks the database, `warehouse-forbidden` if a file isn't readable.
 */
export async function verifySnapshot(
  folder: string,
  manifest: Manifest,
  { declared, signal }: Pick<Subject, 'declared' | 'signal'> = {},
): Promise<string[]> {
  const subject = { folder, manifest, declared, signal };
  // Checks the figures of an altered manifest too, to find the altered figure.
  return [...(await checkManifestFile(folder)), ...(await verify(subject, checks.published))];
}

/** @param contents Contents of the Parquet files, if they were read before. */
export async function verifyBuilt(
  folder: string,
  manifest: Manifest,
  { contents, signal }: Pick<Subject, 'contents' | 'signal'> = {},
): Promise<string[]> {
  return verify({ folder, manifest, contents, signal }, checks.built);
}

export async function glanceAt(folder: string, manifest: Manifest): Promise<string[]> {
  return runAll(checks.glance, { folder, manifest });
}

export async function checkManifestFile(folder: string): Promise<string[]> {
  const problems: string[] = [];
  const read = (path: string): Promise<Buffer | null> =>
    readFile(join(folder, path)).catch((error: unknown) => {
      problems.push(`${path}: ${describeReadError(join(folder, path), error)}`);
      return null;
    });
  const [manifest, hash] = [await read(manifestFile), await read(manifestHashFile)];
  if (manifest !== null && hash !== null && hash.toString('latin1') !== manifestHashLine(manifest))
    problems.push(`${manifestFile}: its SHA-256 does not match ${manifestHashFile}`);
  return problems;
}

async function runAll(fileChecks: readonly FileCheck[], subject: Subject): Promise<string[]> {
  return (await Promise.all(fileChecks.map(async (check) => check(subject)))).flat();
}

async function verify(subject: Subject, fileChecks: readonly FileCheck[]): Promise<string[]> {
  const damage = await runAll(fileChecks, subject);
  if (damage.length > 0) return damage;
  let published: Database;
  try {
    published = await openPublished(join(subject.folder, databaseFile), {
      memory: memoryToRead(subject.manifest),
      signal: subject.signal,
    });
  } catch (error) {
    subject.signal?.throwIfAborted();
    // Another program's write lock isn't damage.
    if (isRekapError(error, 'database-held')) throw error;
    return [`${databaseFile} cannot be opened: ${firstLine((error as Error).cause ?? error)}`];
  }
  const parquet = await openForParquet(subject.signal);
  try {
    for (const group of checks.tables) {
      // In parallel, because planning takes longer than running. All must end before the database is closed.
      const ended = await Promise.allSettled(
        group.map(async (check: TableCheck) =>
          check(subject, { published: await published.beside(), parquet: await parquet.beside() }),
        ),
      );
      subject.signal?.throwIfAborted();
      for (const end of ended) {
        const limit = end.status === 'rejected' ? explainSystemLimit(causeOf(end.reason)) : null;
        if (limit !== null) throw limit;
      }
      const problems = ended.flatMap((end) =>
        end.status === 'fulfilled' ? end.value : [`the tables cannot be read: ${firstLine(causeOf(end.reason))}`],
      );
      if (problems.length > 0) return [...new Set(problems)];
    }
    return [];
  } finally {
    published.close();
    parquet.close();
  }
}

async function sizesAgree({ folder, manifest }: Subject): Promise<string[]> {
  const problems = await Promise.all(
    manifest.files.map(async ({ path, bytes }) => {
      try {
        const { size } = await stat(join(folder, path));
        return size === bytes ? [] : [`${path}: ${sizeMismatch(size, bytes)}`];
      } catch (error) {
        return [`${path}: ${describeReadError(join(folder, path), error)}`];
      }
    }),
  );
  return problems.flat();
}

export async function hashesAgree({
  folder,
  manifest,
  signal,
}: Pick<Subject, 'folder' | 'manifest' | 'signal'>): Promise<string[]> {
  return (await findAltered(folder, manifest.files, signal)).map(({ path, why }) => `${path}: ${why}`);
}

/** DuckDB would apply a write-ahead log, and read a second Parquet file as more rows of its table. */
async function noOtherFiles({ folder, manifest }: Subject): Promise<string[]> {
  const listed = new Set([manifestFile, manifestHashFile, ...manifest.files.map(({ path }) => path)]);
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .toSorted()
    .filter((path) => !listed.has(path))
    .map((path) => `${path}: the manifest does not list this file`);
}

function ledgersBalance({ manifest: { project, datasets } }: Subject): string[] {
  return project.pipelines.flatMap(({ table }) =>
    Object.hasOwn(datasets, table)
      ? [...ledgerProblems(table, datasets[table]!)]
      : [`${manifestFile}: the dataset ${table} is missing`],
  );
}

/** Returns DuckDB's error, because the sentence about a damaged file names the file again. */
function causeOf(error: unknown): unknown {
  return isRekapError(error, 'warehouse') ? (error.cause ?? error) : error;
}

function firstLine(error: unknown): string {
  return messageOf(error).split('\n')[0]!;
}
