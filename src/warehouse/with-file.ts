/** Opens files so that every failure names its file: of a file that is open, the system and Node only say what they could not do. */

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

/** Makes a new file of a text. */
export async function writeNewFile(path: string, text: string): Promise<void> {
  await withFile(path, 'wx', (file) => file.writeFile(text));
}

/**
 * Flushes a file, or a folder, to the disk: what is only written may be gone after a power cut. The name of a file that is new or renamed
 * is on the disk only when its folder is.
 */
export async function flush(path: string): Promise<void> {
  await withFile(path, 'r', (file) => file.sync());
}

/** Does something with a file that is open. */
export async function nameFile<Value>(path: string, act: () => Promise<Value>): Promise<Value> {
  try {
    return await act();
  } catch (error) {
    throw withPath(error, path);
  }
}

/** The error itself, which names the file from now on if it is one of the system. */
function withPath(error: unknown, path: string): unknown {
  const isUnnamed = error instanceof Error && 'syscall' in error && error.syscall !== undefined && !('path' in error);
  return isUnnamed ? Object.assign(error, { path }) : error;
}
