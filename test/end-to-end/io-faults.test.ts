/**
 * Each call to the file system fails once, and from then on, and the power fails after each. The snapshot before or the new one is whole
 * then, the message names the file, and the next run needs no help. Each test run tries the same few of these. REKAP_IO_FAULTS=all
 * tries every one. A failure prints a name: REKAP_IO_FAULTS with that name, or a part of it, tries it again.
 */

import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ExitCode, RekapError } from '../../src/errors.ts';
import { Secret } from '../../src/source/secret.ts';
import type { SyncResult } from '../../src/publish/run.ts';
import { manifestHashLine } from '../../src/publish/manifest.ts';
import { rollBack, verifyPublished } from '../../src/snapshots/manage-snapshots.ts';
import { isSnapshotId, type Manifest, manifestFile, manifestHashFile } from '../../src/warehouse/snapshot-format.ts';
import { listSnapshotIds, readCurrent } from '../../src/warehouse/warehouse.ts';
import { failAt, findPoints, nameOf, onceFailing, type Point } from '../support/failing-call.ts';
import { watch } from '../support/file-calls.ts';
import { runReplay } from '../support/run-replay.ts';
import { runSync } from '../support/served-source.ts';
import { project, syncOptions } from '../support/sync-settings.ts';
import { makeRemains, type PowerCut, readRemains, TornDisk } from '../support/torn-disk.ts';
import { regencies, startVersionedService, versionedKey, type VersionedService } from '../support/versioned-service.ts';

vi.mock('node:fs/promises', async (load) => (await import('../support/file-calls.ts')).watchFiles(await load()));

const chosen = process.env['REKAP_IO_FAULTS'] ?? '';
const patience = chosen === '' ? {} : { timeout: 7_200_000 };

let service: VersionedService;
let root: string;
/** A folder with the warehouse at version 2, and version 1 kept. */
let prepared: string;

beforeAll(async () => {
  service = await startVersionedService();
  root = await mkdtemp(join(tmpdir(), 'rekap-faults-'));
  prepared = join(root, 'prepared');
  await mkdir(prepared);
  for (const version of [1, 2]) {
    service.version = version;
    await sync(prepared);
  }
});

afterAll(async () => {
  await service.close();
  await rm(root, { recursive: true, force: true });
});

const warehouseIn = (folder: string): string => join(folder, 'warehouse');

/** A nation with no partitions but its own, and one snapshot that is kept besides the one before. */
async function sync(folder: string): Promise<SyncResult> {
  const settings = { apiKey: new Secret(versionedKey), keep: 1, acceptChanges: true };
  const pipelines = project.pipelines.map((pipeline) => ({
    ...pipeline,
    partition: { ...pipeline.partition!, values: { from: 'list', values: [] } as const },
  }));
  const own = { ...project, pipelines };
  return runSync(syncOptions(warehouseIn(folder), service.url, settings), {}, own);
}

/** What a user does, in a folder made of the prepared one. */
interface Act {
  readonly name: string;
  /** What the source gives, and so the version that is current in the end. */
  readonly version: number;
  /** What was current before; null for none. */
  readonly before: number | null;
  /** Left out where it has a line in runs.jsonl. */
  readonly isLogged?: false;
  /** Set where the act begins with a run that already made the version current. */
  readonly isAlreadyCurrent?: true;
  /** Set where the act pins the version that it makes current. */
  readonly pins?: true;
  readonly prepare?: (folder: string) => Promise<unknown>;
  readonly act: (folder: string) => Promise<unknown>;
}

const removeCurrent = (folder: string) => rm(join(warehouseIn(folder), 'current'));

const acts: readonly Act[] = [
  { name: 'a sync', before: 2, version: 3, act: sync },
  { name: 'a sync of nothing new', before: 2, version: 2, act: sync },
  {
    name: 'the first sync',
    before: null,
    version: 1,
    prepare: (folder) => rm(warehouseIn(folder), { recursive: true }),
    act: sync,
  },
  {
    name: 'a replay of a snapshot that is gone',
    before: 1,
    version: 2,
    async prepare(folder) {
      const [older, newer] = await listSnapshotIds(warehouseIn(folder));
      await removeCurrent(folder);
      await symlink(`snapshots/${older}`, join(warehouseIn(folder), 'current'));
      await rm(join(warehouseIn(folder), 'snapshots', newer!), { recursive: true });
    },
    act: (folder) => runReplay(warehouseIn(folder)),
  },
  {
    name: 'a replay that restores the link',
    before: null,
    version: 2,
    prepare: removeCurrent,
    act: (folder) => runReplay(warehouseIn(folder)),
  },
  {
    name: 'a rollback',
    before: 2,
    version: 1,
    isLogged: false,
    pins: true,
    act: async (folder) => rollBack(warehouseIn(folder), (await listSnapshotIds(warehouseIn(folder)))[0]!),
  },
  {
    name: 'a sync after one that could not switch',
    before: 2,
    version: 3,
    act: (folder) => failAt(folder, onceFailing('rename', 'warehouse/.current-next', 1), sync).then(() => sync(folder)),
  },
  {
    name: 'a sync after one whose switch could not be flushed',
    before: 2,
    version: 3,
    isAlreadyCurrent: true,
    act: (folder) => failAt(folder, onceFailing('fsync', 'warehouse', 2), sync).then(() => sync(folder)),
  },
];

/** The folder that an act begins with. */
async function begin({ version, prepare }: Act): Promise<string> {
  const folder = join(root, 'folder');
  await rm(folder, { recursive: true, force: true });
  await cp(prepared, folder, { recursive: true, verbatimSymlinks: true });
  await prepare?.(folder);
  service.version = version;
  return folder;
}

/** What may go wrong with an act: every call with every way in which it can fail, and what power cuts may leave. */
interface Recorded {
  readonly points: readonly Point[];
  readonly cuts: readonly PowerCut[];
}

async function record(act: Act): Promise<Recorded> {
  const folder = await begin(act);
  const disk = new TornDisk(folder, chosen === '' ? () => 0.4 : Math.random, chosen === '' ? 1 : 4);
  const points = await findPoints(folder, act.act, (call) => disk.note(call));
  disk.end();
  return { points, cuts: disk.cuts };
}

function must(holds: boolean, what: unknown): asserts holds {
  if (!holds) throw new Error(String(what));
}

/** The version of the current snapshot, every part of which must be as it was published; null where there is none. */
async function versionIn(folder: string): Promise<number | null> {
  const current = await readCurrent(warehouseIn(folder));
  if (current === null) return null;
  const { problems, responseProblems } = await verifyPublished(warehouseIn(folder), current.id);
  must(problems.length + responseProblems.length === 0, [...problems, ...responseProblems]);
  return figureOf(current.manifest);
}

/** The version that a snapshot is of. */
function figureOf({ datasets }: Manifest): number {
  return Number(datasets['voters']!.sums['dpt_male']) / regencies;
}

/** The next run works, and leaves nothing behind of the one before. */
async function requireNext(act: Act, folder: string): Promise<void> {
  await act.act(folder);
  const version = await versionIn(folder);
  must(version === act.version, `version ${version} after the next run`);
  const names = await readdir(warehouseIn(folder));
  const snapshots = await readdir(join(warehouseIn(folder), 'snapshots'));
  must(names.includes('pinned') === (act.pins === true), `pinned: ${names.join(', ')}`);
  const own = new Set(['current', 'landing', 'lock', 'pinned', 'runs.jsonl', 'snapshots']);
  const left = [...names.filter((name) => !own.has(name)), ...snapshots.filter((name) => !isSnapshotId(name))];
  must(left.length === 0, `the next run leaves ${left.join(', ')}`);
  // A replay that cannot read the one that there is makes another.
  must(snapshots.length <= 3, `the next run leaves ${snapshots.length} snapshots`);
}

/** What is told names the file, and is so. */
function requireTold(error: unknown, { fault, lasts }: Point, path: string, isOld: boolean): void {
  must(error instanceof RekapError, error);
  const { message, exitCode, next } = error;
  const codes: readonly number[] = Object.values(ExitCode);
  must(codes.includes(exitCode), `exit ${exitCode}`);
  // If the disk is full, or too many files are open, the message may name another file.
  const named = [basename(path), ...(lasts ? [root] : [])];
  must(fault !== 'EIO' || named.some((name) => message.includes(name)), message);
  must(fault !== 'short', message);
  must(isOld || !next.includes('Nothing was published'), next);
}

async function survive(act: Act, point: Point): Promise<void> {
  const folder = await begin(act);
  const { met, end } = await failAt(folder, point, act.act);
  must(met !== null, 'never met');
  must(watch.open.size === 0, `left open: ${[...watch.open.values()].join(', ')}`);
  const version = await versionIn(folder);
  const hasFailed = end instanceof Error;
  must(version === act.version || (hasFailed && version === act.before), `version ${version} after ${String(end)}`);
  if (hasFailed) requireTold(end, point, met, version === act.before || act.isAlreadyCurrent === true);
  await requireNext(act, folder);
}

/** So many of them at equal distances, all, or those that were named. */
function choose<Item>(items: readonly Item[], named: (item: Item) => string, sample: number): Item[] {
  if (chosen === 'all') return [...items];
  if (chosen !== '') return items.filter((item) => named(item).includes(chosen));
  return Array.from({ length: sample }, (_, at) => items[Math.floor(((at + 1) * items.length) / (sample + 1))]!);
}

/** Tries each; gives what went wrong by name. */
async function tryEach(cases: readonly (readonly [name: string, attempt: () => Promise<void>])[]): Promise<string[]> {
  const wrong: string[] = [];
  for (const [name, attempt] of cases)
    await attempt().catch((error: unknown) => wrong.push(`${name}: ${String(error)}`));
  if (chosen !== '') process.stdout.write(`${cases.length} tried, ${wrong.length} wrong\n`);
  return wrong;
}

const hashes = new WeakMap<Buffer, string>();

function hashOf(bytes: Buffer): string {
  if (!hashes.has(bytes)) hashes.set(bytes, createHash('sha256').update(bytes).digest('hex'));
  return hashes.get(bytes)!;
}

/**
 * Every snapshot that has a name is whole, and the current one, whose answers are whole too, is old or new. What never was current can be
 * told from what was.
 */
function requireWhole(act: Act, { remains, isOver }: PowerCut, known: readonly string[]): void {
  const left = readRemains(remains);
  const bytes = (path: string): Buffer => {
    const found = left.get(path);
    must(Buffer.isBuffer(found), `${path} is missing`);
    return found;
  };
  const current = left.get('warehouse/current');
  const versions = new Map<unknown, number>();
  const places = [...left.keys()].map((path) => /^warehouse\/snapshots\/([^/]+)/.exec(path)?.[1] ?? '');
  for (const id of new Set(places.filter(isSnapshotId))) {
    const folder = `warehouse/snapshots/${id}`;
    const text = bytes(join(folder, manifestFile));
    must(bytes(join(folder, manifestHashFile)).toString() === manifestHashLine(text), `the manifest of ${id} is torn`);
    const manifest = JSON.parse(text.toString()) as Manifest;
    const answers = current === `snapshots/${id}` ? manifest.landing : [];
    const parts = [
      ...manifest.files.map(({ path, sha256 }) => [join(folder, path), sha256] as const),
      ...answers.map(({ path, sha256 }) => [`warehouse/landing/${manifest.run}/${path}`, sha256] as const),
    ];
    for (const [path, sha256] of parts) must(hashOf(bytes(path)) === sha256, `${path} is torn`);
    const isTold = known.includes(id) || [current, left.get('warehouse/.current-next')].includes(`snapshots/${id}`);
    must(isTold, `nothing says that ${id} was never current`);
    versions.set(`snapshots/${id}`, figureOf(manifest));
  }
  const version = current === undefined ? null : versions.get(current);
  must(version === act.version || (!isOver && version === act.before), `version ${version}`);
  const lines = isOver && act.isLogged !== false ? bytes('warehouse/runs.jsonl').toString().split('\n') : [];
  must(
    lines.length === 0 || lines.at(-2)!.includes(`"snapshot":"${basename(String(current))}"`),
    'the run has no line',
  );
}

/** Each test run tries what is done most often, and what restores a snapshot. */
const tried = chosen === '' ? [acts[0]!, acts[3]!] : acts;

describe.each(tried.map((act) => [act.name, act] as const))('%s', (_, act) => {
  let recorded: Recorded;
  beforeAll(async () => {
    recorded = await record(act);
  });

  it('survives a call that fails', patience, async () => {
    const points = choose(recorded.points, (point) => `${act.name}: ${nameOf(point)}`, act.name === 'a sync' ? 2 : 1);
    expect(
      await tryEach(points.map((point) => [`${act.name}: ${nameOf(point)}`, () => survive(act, point)] as const)),
    ).toEqual([]);
  });

  it('survives a power cut', patience, async () => {
    const folder = await begin(act);
    const known = await listSnapshotIds(warehouseIn(folder));
    const cuts = recorded.cuts.map((cut, index) => ({ ...cut, name: `${act.name}: cut ${index} after ${cut.after}` }));
    // To look takes far less than to go on.
    const gone = choose(cuts, ({ name }) => name, 1);
    const attempts = (chosen === '' ? cuts : gone).map((cut) => {
      const attempt = async (): Promise<void> => {
        requireWhole(act, cut, known);
        if (!gone.includes(cut)) return;
        await rm(folder, { recursive: true, force: true });
        await makeRemains(folder, cut.remains);
        await requireNext(act, folder);
      };
      return [cut.name, attempt] as const;
    });
    expect(await tryEach(attempts)).toEqual([]);
  });
});
