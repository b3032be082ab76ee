/** Flushes files and folders to the disk: what is only written may be gone after a power cut. */

import { open } from 'node:fs/promises';

/** Flushes a file, which must be there. */
export async function flushFile(path: string): Promise<void> {
  const file = await open(path, 'r+');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Flushes a folder: a file that is new or renamed is on the disk only when its folder is. */
export async function flushFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
