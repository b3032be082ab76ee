/** Reads the API key from a variable or a file, but not from an option, which other users of the machine could read. */

import { configurationError } from './usage-error.ts';
import { readFile } from 'node:fs/promises';
import { systemReason } from '../../errors.ts';
import type { AnyPipeline, Auth } from '../../project/declaration.ts';
import { formatNumber } from '../../runtime/text.ts';
import { keyOf } from '../../source/credentials.ts';
import { Secret } from '../../source/secret.ts';

/** Longer than any real token, and short enough for the pattern that searches for the key in responses. */
const maxKeyLength = 2048;

/** More would make the pattern that searches for the key in responses slow. */
const maxBackslashes = 4;

/**
 * Reads the key of the source, and the variables of its declared headers.
 * @throws `configuration` if one is missing, or can't be sent in a header.
 */
export async function readApiKey(
  file: string | undefined,
  auth: Auth | null = { header: 'x-api-key' },
  pipelines: readonly AnyPipeline[] = [],
): Promise<Secret> {
  const variables: Record<string, string> = {};
  for (const name of headerVariables(pipelines)) variables[name] = readHeaderVariable(name);
  if (auth === null) return keyOf('', auth, variables);
  const own = auth.variable !== undefined && process.env[auth.variable] !== undefined;
  const variable = own ? auth.variable : 'REKAP_API_KEY';
  const inVariable = own ? takeVariable(variable) : (process.env[variable] ?? '');
  const text = file === undefined ? inVariable : await readNamedFile('key file', file, 'api-key-file');
  const key = text.trim();
  const origin = file === undefined ? variable : `The key file ${file}`;
  if (key === '') {
    if (file !== undefined)
      throw configurationError(`${origin} is empty.`, 'Save the API key in it, and nothing else.');
    throw configurationError(
      'The API key is missing.',
      `Set ${auth.variable ?? 'REKAP_API_KEY'}, or add --api-key-file FILE.`,
    );
  }
  // With the name of a scheme, such as "Token abc".
  const isScheme = 'header' in auth && /^authorization$/i.test(auth.header) && /^[\w-]+ [\x21-\x7e]+$/.test(key);
  if ((!/^[\x21-\x7e]+$/.test(key) && !isScheme) || key.split('\\').length > maxBackslashes + 1)
    throw configurationError(
      `${origin} contains characters that are not allowed in an API key.`,
      'It must contain only the key, on one line.',
    );
  if (key.length > maxKeyLength)
    throw configurationError(
      `${origin} contains ${formatNumber(key.length)} characters. An API key has at most ${formatNumber(maxKeyLength)}.`,
      'It must contain only the key, on one line.',
    );
  return keyOf(key, auth, variables);
}

/** Returns the environment variables that hold the secrets of declared headers. */
export function headerVariables(pipelines: readonly AnyPipeline[]): ReadonlySet<string> {
  const values = pipelines.flatMap(({ headers = {} }) => Object.values(headers));
  return new Set(values.flatMap((value) => (typeof value === 'string' ? [] : [value.variable])));
}

/** Reads a variable that the project names, and removes it, so that commands such as that of --on-publish don't get it. */
function takeVariable(name: string): string {
  const value = process.env[name] ?? '';
  delete process.env[name];
  return value;
}

function readHeaderVariable(variable: string): string {
  const value = takeVariable(variable).trim();
  if (/^[\x20-\x7e]+$/.test(value) && value.length <= maxKeyLength && value.split('\\').length <= maxBackslashes + 1)
    return value;
  const what = value === '' ? 'is not set' : 'is not the value of a header';
  throw configurationError(`${variable} ${what}.`, 'The project declares it as the value of a header.');
}

/** @throws `configuration` if the file can't be read. */
export async function readNamedFile(what: string, file: string, option: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const message = `The ${what} ${file} cannot be read: ${systemReason(error)}.`;
    throw configurationError(message, `Correct --${option}, or change the permissions of the file.`, error);
  }
}
