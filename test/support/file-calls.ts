/**
 * Stands between rekap and node:fs/promises, for tests that make a call fail or write down what was done. What Node makes of several calls,
 * such as writeFile, comes here as those, so that it can fail half-way.
 */

import type { FileHandle } from 'node:fs/promises';
import { constants } from 'node:os';
import { join } from 'node:path';
import { getSystemErrorMap } from 'node:util';

type Files = typeof import('node:fs/promises');

/** A call to the system about a file or folder. */
export interface FileCall {
  readonly name: string;
  readonly path: string;
  /** What it is renamed to. */
  readonly to?: string;
  /** How a file is opened. */
  readonly flags?: string;
}

/** An error of the system; or a reading or writing that stops half-way and says so, as the system may. */
export type Fault = 'EIO' | 'ENOSPC' | 'EMFILE' | 'short';

/** What a test wants of the calls below a folder. */
export const watch = {
  folder: '',
  /** What the call is to fail with; null where it is to go on. */
  before: (_call: FileCall): Fault | null => null,
  /** Told of each call that did not fail. */
  after: (_call: FileCall): void => {},
  /** Paths of the files that are open. */
  open: new Map<FileHandle, string>(),
};

/** How a call can fail. */
export function faultsOf({ name, flags = '' }: FileCall): Fault[] {
  if (name === 'open') return /[wa]/.test(flags) ? ['EIO', 'EMFILE', 'ENOSPC'] : ['EIO', 'EMFILE'];
  if (name === 'write') return ['EIO', 'ENOSPC', 'short'];
  if (name === 'read') return ['EIO', 'short'];
  if (['fsync', 'link', 'mkdir', 'rename', 'symlink'].includes(name)) return ['EIO', 'ENOSPC'];
  return name === 'readdir' ? ['EIO', 'EMFILE'] : ['EIO'];
}

/** What the system would say; of a file that is open, it does not say which. */
function systemError(code: Exclude<Fault, 'short'>, syscall: string, path: string | null) {
  const errno = -constants.errno[code];
  const words = getSystemErrorMap().get(errno)![1];
  const message = `${code}: ${words}, ${syscall}`;
  return path === null
    ? { message, code, errno, syscall }
    : { message: `${message} '${path}'`, code, errno, syscall, path };
}

/** @param act Does the whole of it, or a part where it reads or writes. */
async function pass<Value>(call: FileCall, act: (part: number) => Promise<Value>, hasPath = true): Promise<Value> {
  if (!`${call.path}/`.startsWith(`${watch.folder}/`) || watch.folder === '') return act(1);
  const fault = watch.before(call);
  if (fault === null) {
    const value = await act(1);
    watch.after(call);
    return value;
  }
  if (fault === 'short') return act(0.5);
  // What is full takes a part; what cannot be closed is closed all the same.
  if (call.name === 'close' || (call.name === 'write' && fault === 'ENOSPC')) await act(0.5);
  const { message, ...fields } = systemError(fault, call.name, hasPath ? call.path : null);
  throw Object.assign(new Error(message), fields);
}

/** node:fs/promises as rekap is to see it. */
export function watchFiles(real: Files): Files {
  const ofOnePath = (
    ['access', 'chmod', 'lstat', 'mkdir', 'readdir', 'readlink', 'realpath', 'rmdir', 'stat'] as const
  ).map((name) => [
    name,
    (path: string, ...rest: unknown[]) =>
      pass({ name, path }, () => (real[name] as (...all: unknown[]) => Promise<unknown>)(path, ...rest)),
  ]);

  async function open(path: string, flags = 'r', mode?: number): Promise<FileHandle> {
    const file = await pass({ name: 'open', path, flags }, () => real.open(path, flags, mode));
    return `${path}/`.startsWith(`${watch.folder}/`) ? watchFile(file, path) : file;
  }

  async function using<Value>(path: string, flags: string, use: (file: FileHandle) => Promise<Value>): Promise<Value> {
    const file = await open(path, flags);
    try {
      return await use(file);
    } finally {
      await file.close();
    }
  }

  async function rm(path: string, options: { recursive?: boolean; force?: boolean } = {}): Promise<void> {
    const found = await real.lstat(path).catch((error: unknown) => error as NodeJS.ErrnoException);
    if (found instanceof Error) {
      if (options.force === true && found.code === 'ENOENT') return;
      throw found;
    }
    if (!found.isDirectory()) return pass({ name: 'unlink', path }, () => real.unlink(path));
    for (const name of await real.readdir(path)) await rm(join(path, name), options);
    await pass({ name: 'rmdir', path }, () => real.rmdir(path));
  }

  return {
    ...real,
    ...Object.fromEntries(ofOnePath),
    open,
    rm,
    rename: (path: string, to: string) => pass({ name: 'rename', path, to }, () => real.rename(path, to)),
    link: (path: string, to: string) => pass({ name: 'link', path, to }, () => real.link(path, to)),
    symlink: (target: string, path: string) => pass({ name: 'symlink', path }, () => real.symlink(target, path)),
    writeFile: (path: string, data: string | Uint8Array, options: { flag?: string } = {}) =>
      using(path, options.flag ?? 'w', (file) => file.appendFile(data)),
    readFile: (path: string, encoding?: BufferEncoding) =>
      using(path, 'r', async (file) => {
        const pieces: Buffer[] = [];
        for (;;) {
          const piece = Buffer.alloc(1 << 16);
          const { bytesRead } = await file.read(piece, 0, piece.length, null);
          pieces.push(piece.subarray(0, bytesRead));
          if (bytesRead === 0)
            return encoding === undefined ? Buffer.concat(pieces) : Buffer.concat(pieces).toString(encoding);
        }
      }),
  };
}

/** The system does not say which file an error about an open one is of. */
function watchFile(file: FileHandle, path: string): FileHandle {
  const plain = { read: file.read.bind(file), write: file.write.bind(file), close: file.close.bind(file) };
  watch.open.set(file, path);
  for (const name of ['sync', 'datasync', 'stat'] as const) {
    const call = file[name].bind(file) as () => Promise<unknown>;
    Object.assign(file, {
      [name]: () => pass({ name: name.replace('data', 'f').replace(/^sync/, 'fsync'), path }, call, false),
    });
  }
  const write = (data: string | Uint8Array): Promise<{ bytesWritten: number }> => {
    const bytes = Buffer.from(data as Uint8Array);
    return pass({ name: 'write', path }, (part) => plain.write(bytes, 0, Math.ceil(bytes.length * part)), false);
  };
  const writeAll = async (data: string | Uint8Array): Promise<void> => {
    for (let rest = Buffer.from(data as Uint8Array); rest.length > 0;)
      rest = rest.subarray((await write(rest)).bytesWritten);
  };
  return Object.assign(file, {
    write,
    appendFile: writeAll,
    writeFile: writeAll,
    read: (into: Buffer, offset: number, length: number, position: number | null) =>
      pass({ name: 'read', path }, (part) => plain.read(into, offset, Math.ceil(length * part), position), false),
    close: () => pass({ name: 'close', path }, () => plain.close(), false).finally(() => watch.open.delete(file)),
  });
}
