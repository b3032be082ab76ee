/** Finds the API key: in REKAP_API_KEY or in a file, never in a flag, which other users of the machine could read. */

import { readNamedFile } from './shared.ts';
import { RekapError } from '../../errors.ts';
import { formatNumber } from '../../runtime/text.ts';
import { Secret } from '../../extract/ask/secret.ts';

/** Longer than any token in a header; what is to be found in every answer must be a pattern that can be searched for. */
const longestKey = 2048;

/** Each can be read in several ways in an answer that holds many of them, and all of these ways would be tried. */
const mostBackslashes = 4;

/** @throws `configuration` if the key is missing, or if no header can carry it. */
export async function readApiKey(file: string | undefined): Promise<Secret> {
  const text =
    file === undefined ? (process.env['REKAP_API_KEY'] ?? '') : await readNamedFile('key file', file, 'api-key-file');
  const key = text.trim();
  const whence = file === undefined ? 'REKAP_API_KEY' : `The key file ${file}`;
  if (key === '') {
    if (file !== undefined)
      throw new RekapError('configuration', `${whence} is empty.`, 'Put the key into it, and nothing else.');
    throw new RekapError(
      'configuration',
      'There is no API key.',
      'Set REKAP_API_KEY, or name a file that holds the key with --api-key-file.',
    );
  }
  if (!/^[\x21-\x7e]+$/.test(key) || key.split('\\').length > mostBackslashes + 1)
    throw new RekapError(
      'configuration',
      `${whence} holds characters that no API key has.`,
      'It should hold the key alone, on one line.',
    );
  if (key.length > longestKey)
    throw new RekapError(
      'configuration',
      `${whence} holds ${formatNumber(key.length)} characters, more than a key may have (${formatNumber(longestKey)}).`,
      'It should hold the key alone, on one line.',
    );
  return new Secret(key);
}
