/** Reads a file that an option names. */

import { readFile } from 'node:fs/promises';
import { RekapError, systemReason } from '../../errors.ts';

/** @throws `configuration` if the file can't be read. */
export async function readNamedFile(what: string, file: string, option: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const message = `The ${what} ${file} cannot be read: ${systemReason(error)}.`;
    throw new RekapError('configuration', message, `Correct --${option}, or change the permissions of the file.`, {
      cause: error,
    });
  }
}
