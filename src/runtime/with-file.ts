/** Opens files so that every failure names its file: of an open file, the system says only what failed. */

import { open, type FileHandle } from 'node:fs/promises';

/** Opens a file, lets it be used, and closes it. */
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

/** Does something with a file that is open; a failure of the system names the file then. */
export async function nameFile<Value>(path: string, act: () => Promise<Value>): Promise<Value> {
  try {
    return await act();
  } catch (error) {
    const isUnnamed = error instanceof Error && 'syscall' in error && error.syscall !== undefined && !('path' in error);
    throw isUnnamed ? Object.assign(error, { path }) : error;
  }
}

/** Makes a new file of a text. */
export async function writeNewFile(path: string, text: string): Promise<void> {
  await withFile(path, 'wx', (file) => file.writeFile(text));
}

/**
 * Flushes a file or a folder to the disk: a power cut may take what is only written. A new name is on the disk only when the folder that
 * holds it was flushed.
 */
export async function flush(path: string): Promise<void> {
  await withFile(path, 'r', (file) => file.sync());
}
