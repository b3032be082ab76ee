/** Reads the config file: the one that the user names, otherwise rekap.json in the working directory. */

import { configurationError } from './usage-error.ts';
import { lstat, readFile, stat } from 'node:fs/promises';
import * as v from 'valibot';
import { didYouMean } from '../../runtime/closest-name.ts';
import { fileOptions } from './all-options.ts';
import type { Option, Options } from './option.ts';
import { isRekapError, messageOf, RekapError, systemCode, systemReason } from '../../errors.ts';

/** Parent folders are not searched, so that they can't change what a command does. */
export const workingConfig = 'rekap.json';

const text = v.string('a string');

/** Shapes by option type. The message names the expected type. */
const shapes = {
  boolean: v.boolean('true or false'),
  number: v.union([v.number(), v.string()], 'a number'),
  string: text,
  array: v.union([text, v.array(v.union([v.string(), v.number()]))], 'a list of strings'),
} as const satisfies Record<Option['type'], v.GenericSchema>;

/** The shape of a config file; its JSON Schema is docs/reference/config.schema.json. */
export function configShape(options: Options) {
  const entries = Object.entries(options).map(([name, { type, describe, defaultDescription }]) => {
    const usual = defaultDescription === undefined ? '' : ` [default: ${defaultDescription}]`;
    return [name, v.optional(v.pipe(shapes[type], v.description(`${describe}${usual}`)))];
  });
  const own = Object.fromEntries(entries) as Record<string, v.GenericSchema>;
  return v.strictObject({ $schema: v.optional(text), ...own }, 'a JSON object');
}

export interface FoundConfig {
  /** Options by name, as they are written. */
  readonly given: Readonly<Record<string, unknown>>;
  /** Why the config file can't be used; null if it can. */
  readonly failure: RekapError | null;
}

/** Returns a failure instead of throwing it, because the other options say whom to notify. */
export async function readConfigFile(named: string | undefined, ignoresFound: boolean): Promise<FoundConfig> {
  try {
    if (named !== undefined) return { given: await readOptions(named, 'remove --config'), failure: null };
    const isFound = !ignoresFound && (await hasWorkingConfig());
    return { given: isFound ? await readOptions(workingConfig, 'move it') : {}, failure: null };
  } catch (error) {
    if (!isRekapError(error, 'configuration')) throw error;
    return { given: {}, failure: error };
  }
}

/** @throws `configuration` if the file can't be read, or contains an invalid or unknown option. */
async function readOptions(path: string, otherwise: string): Promise<FoundConfig['given']> {
  const { output, issues } = v.safeParse(
    configShape(fileOptions),
    await readJson(path, `Correct it, or ${otherwise}.`),
  );
  const [issue] = issues ?? [];
  if (issue === undefined) return output as FoundConfig['given'];
  const name = issue.path?.[0]?.key;
  const file = `The config file ${path}`;
  if (typeof name !== 'string')
    throw configurationError(`${file} is not ${issue.message}.`, 'Write options such as { "base-url": "https://…" }.');
  if (Object.hasOwn(fileOptions, name))
    throw configurationError(
      `"${name}" in the config file ${path} is not ${issue.message}.`,
      'Correct it, or remove it from the file.',
    );
  if (/key/i.test(name))
    throw configurationError(
      `${file} contains "${name}". Config files must not contain API keys.`,
      'Set REKAP_API_KEY, or add "api-key-file" with the name of a file.',
    );
  const help = 'For the list of options, run "rekap <command> --help".';
  throw configurationError(
    `${file} contains the unknown option "${name}".`,
    didYouMean(name, Object.keys(fileOptions), help, (one) => `"${one}"`),
  );
}

async function readJson(path: string, next: string): Promise<unknown> {
  try {
    // Some editors add a byte order mark.
    return JSON.parse((await readFile(path, 'utf8')).replace(/^\uFEFF/, ''));
  } catch (error) {
    const why =
      error instanceof SyntaxError
        ? `is not valid JSON: ${messageOf(error)}`
        : `cannot be read: ${systemReason(error)}`;
    throw configurationError(`The config file ${path} ${why}.`, next, error);
  }
}

/** @throws `configuration` if other users could have written the file, because it can run commands. */
async function hasWorkingConfig(): Promise<boolean> {
  const why = await whyUntrusted(workingConfig).catch((error: unknown) => {
    const message = `The config file ${workingConfig} cannot be read: ${systemReason(error)}.`;
    throw configurationError(message, 'Change its permissions, or move it.', error);
  });
  if (why === null || why === 'missing') return why === null;
  throw configurationError(
    `The config file ${workingConfig} in this folder ${why}, and it can run commands.`,
    `Run "chmod go-w ${workingConfig}", or remove the file. If you trust it, add --config ${workingConfig}.`,
  );
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
