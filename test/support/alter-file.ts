/** Alters a file of a published snapshot, whether or not its permissions are against it. */

import { chmod, readFile, writeFile } from 'node:fs/promises';

export async function alterFile(path: string, change: (bytes: Buffer) => Buffer): Promise<void> {
  await chmod(path, 0o644);
  await writeFile(path, change(await readFile(path)));
}
