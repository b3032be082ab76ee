/** Verifies a snapshot: what the manifest says = what the files are = what the DuckDB file holds = what the Parquet files hold. */

import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { type Database, openDatabase } from '../runtime/database.ts';
import { openPublished } from '../warehouse/open-published.ts';
import { findAltered, otherSize, whyUnread } from '../warehouse/check-files.ts';
import { databaseFile, type Manifest, manifestFile, manifestHashFile } from '../warehouse/snapshot-format.ts';
import { ledgerProblems } from './gate.ts';
import { manifestHashLine } from './manifest.ts';
import {
  columnsAgree,
  partitionsComplete,
  doubtsAgree,
  figuresAgree,
  noOtherTables,
  relationsAgree,
  rowsAgree,
  type Subject,
  type TableCheck,
  typesAgree,
} from './verify-tables.ts';
import { isRekapError, messageOf, tooFewFiles } from '../errors.ts';

/** Gives what is wrong, as sentences. */
type FileCheck = (subject: Subject) => Promise<string[]> | string[];

/** Everything that is checked. What a group finds is all that is told: the groups after it would say the same again, less clearly. */
const checks = {
  /** Without reading a file. */
  glance: [sizesAgree, noOtherFiles],
  /** Files that were hashed a moment ago, for a manifest that is not written yet. */
  built: [sizesAgree, noOtherFiles, ledgersBalance],
  published: [hashesAgree, noOtherFiles, ledgersBalance],
  tables: [
    [relationsAgree],
    [noOtherTables, figuresAgree, partitionsComplete, columnsAgree, doubtsAgree],
    [typesAgree],
    [rowsAgree],
  ],
} satisfies Record<string, readonly FileCheck[] | readonly (readonly TableCheck[])[]>;

/**
 * Reads every byte of a published snapshot. Gives everything that is wrong, as sentences.
 *
 * @param declared The CREATE statement and the comments of each table and view, where this release makes them as the snapshot has them.
 * @throws `database-held` where every byte is as it was, but another program keeps the tables from being read;
 *   `warehouse-forbidden` where this user may not read a file.
 */
export async function verifySnapshot(
  folder: string,
  manifest: Manifest,
  declared?: ReadonlyMap<string, string>,
): Promise<string[]> {
  const subject = { ...subjectOf(folder, manifest), declared };
  // A manifest that was altered is no reason not to say in which figure.
  return [...(await checkManifestFile(folder)), ...(await verify(subject, checks.published))];
}

/** The same for a snapshot that was built a moment ago. */
export async function verifyBuilt(folder: string, manifest: Manifest): Promise<string[]> {
  return verify(subjectOf(folder, manifest), checks.built);
}

/** Whether the files are there with their sizes, and no others; reads none of them. */
export async function glanceAt(folder: string, manifest: Manifest): Promise<string[]> {
  return runAll(checks.glance, subjectOf(folder, manifest));
}

/** Gives what is wrong with the manifest's file or that of its hash. */
export async function checkManifestFile(folder: string): Promise<string[]> {
  const problems: string[] = [];
  const read = (path: string): Promise<Buffer | null> =>
    readFile(join(folder, path)).catch((error: unknown) => {
      problems.push(`${path}: ${whyUnread(join(folder, path), error)}`);
      return null;
    });
  const [manifest, hash] = [await read(manifestFile), await read(manifestHashFile)];
  if (manifest !== null && hash !== null && hash.toString('latin1') !== manifestHashLine(manifest))
    problems.push(`${manifestFile}: its SHA-256 does not match ${manifestHashFile}`);
  return problems;
}

function subjectOf(folder: string, manifest: Manifest): Subject {
  const named = manifest.project.pipelines.filter(({ table }) => Object.hasOwn(manifest.datasets, table));
  return { folder, manifest, named, declared: undefined };
}

async function runAll(fileChecks: readonly FileCheck[], subject: Subject): Promise<string[]> {
  return (await Promise.all(fileChecks.map(async (check) => check(subject)))).flat();
}

async function verify(subject: Subject, fileChecks: readonly FileCheck[]): Promise<string[]> {
  const damage = await runAll(fileChecks, subject);
  if (damage.length > 0) return damage;
  let published: Database;
  try {
    published = await openPublished(join(subject.folder, databaseFile));
  } catch (error) {
    // That somebody writes to it is no damage, at least none yet.
    if (isRekapError(error, 'database-held')) throw error;
    return [`${databaseFile} cannot be opened: ${firstLine((error as Error).cause ?? error)}`];
  }
  const parquet = await openDatabase(':memory:', { settings: { temp_directory: '' } });
  try {
    for (const group of checks.tables) {
      // At the same time: each takes longer to plan than to carry out. All must have ended before the database is closed.
      const ended = await Promise.allSettled(
        group.map(async (check: TableCheck) =>
          check(subject, { published: await published.beside(), parquet: await parquet.beside() }),
        ),
      );
      // That the system lets nothing more be opened is no damage.
      for (const end of ended) if (end.status === 'rejected') throwIfTooFewFiles(causeOf(end.reason));
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
        return size === bytes ? [] : [`${path}: ${otherSize(size, bytes)}`];
      } catch (error) {
        return [`${path}: ${whyUnread(join(folder, path), error)}`];
      }
    }),
  );
  return problems.flat();
}

async function hashesAgree({ folder, manifest }: Subject): Promise<string[]> {
  return (await findAltered(folder, manifest.files)).map(({ path, why }) => `${path}: ${why}`);
}

/** A write-ahead log beside the database would be replayed into it; a second Parquet file would be read as more rows of its table. */
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

function ledgersBalance({ manifest, named }: Subject): string[] {
  return named.flatMap(({ table }) => [...ledgerProblems(table, manifest.datasets[table]!)]);
}

/** What DuckDB said; the sentence about a damaged file names the file again. */
function causeOf(error: unknown): unknown {
  return isRekapError(error, 'warehouse') ? (error.cause ?? error) : error;
}

function firstLine(error: unknown): string {
  return messageOf(error).split('\n')[0]!;
}

function throwIfTooFewFiles(error: unknown): void {
  const told = tooFewFiles(error);
  if (told !== null) throw told;
}
