/** Finds the config file of a command: the one that the user names, otherwise rekap.json in the working directory. */

import { lstat, stat } from 'node:fs/promises';
import type { Options } from './option.ts';
import { isRekapError, RekapError, systemCode, systemReason } from '../../errors.ts';

/** Parent folders are not searched, so that they can't change what a command does. */
export const workingConfig = 'rekap.json';

export interface FoundConfig {
  /** The options of the file that the command has. */
  readonly given: Readonly<Record<string, unknown>>;
  /** The file's name in messages. */
  readonly name: string;
  readonly failure: RekapError | null;
  /** True if the user didn't name the file. */
  readonly isFound: boolean;
}

/** Returns a failure instead of throwing it, because the other options say whom to notify. */
export async function findConfig(
  path: unknown,
  declared: Options,
  { ignoresFound, options }: { readonly ignoresFound: boolean; readonly options: Options },
): Promise<FoundConfig> {
  const isNamed = typeof path === 'string';
  const name = isNamed ? 'the config file' : workingConfig;
  let isFound = false;
  try {
    isFound = !isNamed && !ignoresFound && (await hasWorkingConfig());
    if (!isNamed && !isFound) return { given: {}, name, failure: null, isFound };
    const file = isNamed
      ? { path, next: 'Correct it, or remove --config.' }
      : { path: workingConfig, next: 'Correct it, or move it.' };
    const { readConfigFile } = await import('./config-file.ts');
    return { given: await readConfigFile(file, declared, options), name, failure: null, isFound };
  } catch (error) {
    if (!isRekapError(error, 'configuration')) throw error;
    return { given: {}, name, failure: error, isFound };
  }
}

/** @throws `configuration` if other users could have written the file, because it can run commands. */
async function hasWorkingConfig(): Promise<boolean> {
  try {
    const why = await whyUntrusted(workingConfig);
    if (why !== null && why !== 'missing') throw untrusted(why);
    return why === null;
  } catch (error) {
    if (error instanceof RekapError) throw error;
    const message = `The config file ${workingConfig} cannot be read: ${systemReason(error)}.`;
    throw new RekapError('configuration', message, 'Change its permissions, or move it.', { cause: error });
  }
}

/** Returns why a file is untrusted, as the end of a sentence; null if other users couldn't have written it. */
export async function whyUntrusted(path: string): Promise<string | null> {
  const link = await lstat(path).catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return null;
    throw error;
  });
  if (link === null) return 'missing';
  const file = await stat(path);
  // Windows doesn't have user IDs.
  const self = process.getuid?.();
  if (self === undefined) return null;
  if ([link, file].some(({ uid }) => uid !== self && uid !== 0)) return 'belongs to another user';
  // On Debian and Fedora, a group with the same ID as the user is private.
  return (file.mode & (file.gid === file.uid ? 0o002 : 0o022)) === 0 ? null : 'is writable by other users';
}

function untrusted(why: string): RekapError {
  return new RekapError(
    'configuration',
    `The config file ${workingConfig} in this folder ${why}, and it can run commands.`,
    `Run "chmod go-w ${workingConfig}", or remove the file. If you trust it, add --config ${workingConfig}.`,
  );
}
