/**
 * What a power cut may leave of a folder. Certain are the bytes of a file when it was last flushed, and the names in a folder when that one
 * was. Of what came since, any part may be on the disk: names in any order, and of a file nothing, a half, or zeros in its place.
 */

import { readdirSync, readFileSync, readlinkSync, lstatSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import type { FileCall } from './file-calls.ts';

interface TornFile {
  readonly kind: 'file';
  /** What it held at each flush; what it holds in the end comes last. */
  readonly versions: Buffer[];
  /** How often it was flushed so far. */
  flushes: number;
  /** Whether there may be bytes that nobody has flushed. */
  isDirty: boolean;
}

interface TornFolder {
  readonly kind: 'folder';
  /** Names that are certain. */
  flushed: Map<string, Entry>;
  /** Names that a program sees. */
  readonly seen: Map<string, Entry>;
  /** What was done to the names since they were flushed. */
  pending: ((names: Map<string, Entry>) => void)[];
}

type Entry = TornFile | TornFolder | { readonly kind: 'link'; readonly target: string };

/** What of a file's last bytes, which nobody has flushed, is on the disk. */
type Torn = 'lost' | 'half' | 'zeros' | 'whole';

interface TornBytes {
  readonly file: TornFile;
  readonly flushes: number;
  readonly torn: Torn;
}

/** A folder as it may be found after a power cut. */
type Remains = Map<string, Remains | TornBytes | { readonly target: string }>;

export interface PowerCut {
  /** What was done last before it. */
  readonly after: string;
  /** Whether all was over by then. */
  readonly isOver: boolean;
  readonly remains: Remains;
}

/** Keeps account of what is certain below `root` as it is told of each call, and of what may be left at any moment. */
export class TornDisk {
  readonly cuts: PowerCut[] = [];
  private readonly root: string;
  private readonly top: TornFolder;
  private readonly files: { readonly path: string; readonly file: TornFile }[] = [];
  private readonly signs = new Set<string>();
  private readonly random: () => number;
  private readonly perMoment: number;

  /** @param perMoment Power cuts after each call, besides the one that loses all that may be lost, and the one that loses only bytes. */
  constructor(root: string, random: () => number, perMoment: number) {
    this.root = root;
    this.random = random;
    this.perMoment = perMoment;
    this.top = scan(root);
  }

  /** Takes account of a call that was made, and of the power cuts that may come now. */
  note({ name, path, to }: FileCall): void {
    if (path === this.root ? name !== 'fsync' : !this.change(name, path, to)) return;
    if (path === this.root) this.flush(path, this.top);
    this.cutAll(`${name} ${relative(this.root, path)}`, false);
  }

  private cutAll(after: string, isOver: boolean): void {
    const when = { after, isOver };
    this.cut(
      when,
      () => false,
      () => 'lost',
    );
    this.cut(
      when,
      () => true,
      () => 'lost',
    );
    const torn = ['lost', 'half', 'zeros', 'whole'] as const;
    for (let time = 0; time < this.perMoment; time += 1)
      this.cut(
        when,
        () => this.random() < 0.5,
        () => torn[Math.floor(this.random() * torn.length)]!,
      );
  }

  /** Takes account of the power cuts that may come when all is over, and of what the files hold then, flushed or not. */
  end(): void {
    this.signs.clear();
    this.cutAll('the end', true);
    for (const { path, file } of this.files) {
      try {
        file.versions.push(readFileSync(path));
      } catch {
        // What was removed or renamed has had its last flush.
      }
    }
  }

  private change(name: string, path: string, to: string | undefined): boolean {
    // Node makes the folders above as well.
    if (name === 'mkdir' && this.find(dirname(path)) === undefined) this.change(name, dirname(path), undefined);
    const folder = this.find(dirname(path));
    if (folder?.kind !== 'folder') return false;
    const place = basename(path);
    const entry = folder.seen.get(place);
    if (name === 'mkdir')
      return this.add(folder, place, { kind: 'folder', flushed: new Map(), seen: new Map(), pending: [] });
    if (name === 'symlink') return this.add(folder, place, { kind: 'link', target: readlinkSync(path) });
    if (name === 'open' && entry === undefined) return this.add(folder, place, this.newFile(path));
    if (entry === undefined) return false;
    if (name === 'rename')
      return this.do(
        folder,
        (names) => names.delete(place) || true,
        (names) => names.set(basename(to!), entry),
      );
    if (name === 'unlink' || name === 'rmdir')
      return this.do(folder, (names) => names.get(place) === entry && names.delete(place));
    if (name === 'fsync') return this.flush(path, entry);
    if (name === 'write' && entry.kind === 'file') entry.isDirty = true;
    return name === 'write';
  }

  private newFile(path: string): TornFile {
    const file: TornFile = { kind: 'file', versions: [], flushes: 0, isDirty: true };
    this.files.push({ path, file });
    return file;
  }

  private add(folder: TornFolder, name: string, entry: Entry): true {
    return this.do(folder, (names) => names.set(name, entry));
  }

  private do(folder: TornFolder, ...changes: ((names: Map<string, Entry>) => unknown)[]): true {
    const change = (names: Map<string, Entry>): void => changes.forEach((each) => each(names));
    change(folder.seen);
    folder.pending.push(change);
    return true;
  }

  private flush(path: string, entry: Entry): true {
    if (entry.kind === 'file') {
      entry.versions.push(readFileSync(path));
      entry.flushes += 1;
      entry.isDirty = false;
    } else if (entry.kind === 'folder') {
      // What DuckDB has made there is seen only now; its files are as they are, for it flushes them itself.
      for (const [name, found] of scan(path).seen) if (!entry.seen.has(name)) entry.seen.set(name, found);
      entry.flushed = new Map(entry.seen);
      entry.pending = [];
    }
    return true;
  }

  private find(path: string): Entry | undefined {
    const parts = relative(this.root, path)
      .split('/')
      .filter((part) => part !== '');
    let found: Entry | undefined = this.top;
    for (const part of parts) found = found?.kind === 'folder' ? found.seen.get(part) : undefined;
    return found;
  }

  /** Adds a power cut, unless one before has left the same. */
  private cut(when: Omit<PowerCut, 'remains'>, keeps: () => boolean, tear: () => Torn): void {
    const sign: string[] = [];
    const remains = (folder: TornFolder, path: string): Remains => {
      const names = new Map(folder.flushed);
      for (const change of folder.pending) if (keeps()) change(names);
      return new Map(
        [...names].map(([name, entry]): [string, Remains extends Map<string, infer Left> ? Left : never] => {
          const place = join(path, name);
          if (entry.kind === 'folder') return [name, remains(entry, place)];
          if (entry.kind === 'link') {
            sign.push(`${place} -> ${entry.target}`);
            return [name, entry];
          }
          const torn = entry.isDirty ? tear() : 'lost';
          sign.push(`${place} ${entry.flushes} ${torn}`);
          return [name, { file: entry, flushes: entry.flushes, torn }];
        }),
      );
    };
    const left = remains(this.top, '');
    if (this.signs.size === this.signs.add(sign.join('\n')).size) return;
    this.cuts.push({ ...when, remains: left });
  }
}

function scan(path: string): TornFolder {
  const seen = new Map<string, Entry>();
  for (const name of readdirSync(path)) {
    const place = join(path, name);
    const found = lstatSync(place);
    if (found.isDirectory()) seen.set(name, scan(place));
    else if (found.isSymbolicLink()) seen.set(name, { kind: 'link', target: readlinkSync(place) });
    else seen.set(name, { kind: 'file', versions: [readFileSync(place)], flushes: 1, isDirty: false });
  }
  return { kind: 'folder', flushed: new Map(seen), seen, pending: [] };
}

/** Makes the folder that a power cut leaves. */
export async function makeRemains(path: string, remains: Remains): Promise<void> {
  await mkdir(path);
  for (const [name, left] of remains) {
    const place = join(path, name);
    if (left instanceof Map) await makeRemains(place, left);
    else if ('target' in left) await symlink(left.target, place);
    else await writeFile(place, bytesOf(left));
  }
}

/** What it leaves by paths, for whoever only wants to look: the bytes of files, and where links lead. */
export function readRemains(remains: Remains, above = ''): Map<string, Buffer | string> {
  return new Map(
    [...remains].flatMap(([name, left]) => {
      const place = join(above, name);
      if (left instanceof Map) return [...readRemains(left, place)];
      return [[place, 'target' in left ? left.target : bytesOf(left)] as const];
    }),
  );
}

/** Flushed bytes stay; what a file would have held at its next flush may be there as well, torn. */
function bytesOf({ file: { versions }, flushes, torn }: TornBytes): Buffer {
  const certain = versions[flushes - 1] ?? Buffer.of();
  const rest = (versions[flushes] ?? certain).subarray(certain.length);
  if (torn === 'lost' || rest.length === 0) return certain;
  const kept = { half: Math.floor(rest.length / 2), zeros: 0, whole: rest.length }[torn];
  return Buffer.concat([certain, rest.subarray(0, kept), Buffer.alloc(torn === 'zeros' ? rest.length : 0)]);
}
