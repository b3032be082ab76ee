/** Opens files so that every error names its file. For an open file, the system's errors don't. */

import { open, stat, type FileHandle } from 'node:fs/promises';

export async function withFile<Value>(
  path: string,
  flags: string,
  use: (file: FileHandle) => Promise<Value>,
): Promise<Value> {
  return nameFile(path, async () => {
    const file = await open(path, flags);
    try {
      return await use(file);
    } finally {
      await file.close();
    }
  });
}

export async function nameFile<Value>(path: string, act: () => Promise<Value>): Promise<Value> {
  try {
    return await act();
  } catch (error) {
    const isUnnamed = error instanceof Error && 'syscall' in error && error.syscall !== undefined && !('path' in error);
    throw isUnnamed ? Object.assign(error, { path }) : error;
  }
}

/** Returns whether the path is a folder; false if it cannot be read. */
export async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isDirectory() === true;
}

export async function writeNewFile(path: string, text: string): Promise<void> {
  await withFile(path, 'wx', (file) => file.writeFile(text));
}

/** Flushes a file or a folder to the disk, to survive a power failure. A new name is on the disk only after its folder was flushed. */
export async function flush(path: string): Promise<void> {
  await withFile(path, 'r', (file) => file.sync());
}
