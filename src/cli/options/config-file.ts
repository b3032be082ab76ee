/** Reads the options of a command from the config file. The file may contain options of other commands, but no unknown ones. */

import { readFile } from 'node:fs/promises';
import * as v from 'valibot';
import { didYouMean } from '../../runtime/closest-name.ts';
import type { Option, Options } from './option.ts';
import { messageOf, RekapError, systemReason } from '../../errors.ts';

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
  const entries = Object.entries(options).map(([name, { type, describe, defaultDescription }]) => [
    name,
    v.optional(
      v.pipe(
        shapes[type],
        v.description(defaultDescription === undefined ? describe : `${describe} [default: ${defaultDescription}]`),
      ),
    ),
  ]);
  const own = Object.fromEntries(entries) as Record<string, v.GenericSchema>;
  const fileEntries: Record<string, v.GenericSchema> = {
    $schema: v.optional(text),
    profile: v.optional(v.pipe(text, v.description('default profile, if --profile is not set'))),
    profiles: v.optional(
      v.pipe(
        v.record(text, v.strictObject(own, 'a JSON object'), 'a JSON object'),
        v.description(
          'options per profile, such as staging and production; they take precedence over the other options in this file',
        ),
      ),
    ),
    ...own,
  };
  return v.strictObject(fileEntries, 'a JSON object');
}

interface NamedFile {
  readonly path: string;
  readonly next: string;
  /** The file's name in messages, such as "the config file". */
  readonly name: string;
}

export interface ReadConfig {
  /** The parts of the file, by decreasing precedence. */
  readonly places: readonly Place[];
  /** The error for an unknown profile. It is returned, because the other options say whom to notify. */
  readonly failure: RekapError | null;
}

/** Options from one part of the file, and a function that names the origin of an option. */
type Place = readonly [given: Readonly<Record<string, unknown>>, nameOf: (name: string) => string];

/** @throws `configuration` if the file can't be read, or contains an invalid option. */
export async function readConfigFile(
  { path, name: fileName, next }: NamedFile,
  declared: Options,
  options: Options,
  profile: string | undefined,
): Promise<ReadConfig> {
  const parsed = await readJson(path, next);
  const { output, issues } = v.safeParse(configShape(options), parsed);
  const [issue] = issues ?? [];
  if (issue !== undefined) throw explainIssue(path, issue, Object.keys(options));
  const {
    profiles = {},
    profile: defaultProfile,
    ...top
  } = output as { profiles?: Record<string, object>; profile?: string };
  const ofCommand = (given: object) =>
    Object.fromEntries(Object.entries(given).filter(([name]) => Object.hasOwn(declared, name)));
  const topLevel: Place = [ofCommand(top), (name) => `"${name}" in ${fileName}`];
  const chosen = profile ?? defaultProfile;
  if (chosen === undefined) return { places: [topLevel], failure: null };
  if (!Object.hasOwn(profiles, chosen))
    return { places: [topLevel], failure: explainProfile(path, chosen, Object.keys(profiles)) };
  const own: Place = [ofCommand(profiles[chosen]!), (name) => `"${name}" in the profile "${chosen}"`];
  return { places: [own, topLevel], failure: null };
}

function explainProfile(path: string, profile: string, names: readonly string[]): RekapError {
  const known = names.map((name) => JSON.stringify(name)).join(', ');
  const advice = names.length === 0 ? 'Add it under "profiles".' : `The profiles are ${known}.`;
  return new RekapError(
    'configuration',
    `The config file ${path} has no profile ${JSON.stringify(profile)}.`,
    didYouMean(profile, names, advice, (one) => JSON.stringify(one)),
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
    const message = `The config file ${path} ${why}.`;
    throw new RekapError('configuration', message, next, { cause: error });
  }
}

function explainIssue(path: string, issue: v.BaseIssue<unknown>, names: readonly string[]): RekapError {
  const keys = (issue.path ?? []).map(({ key }) => key);
  const isInProfile = keys[0] === 'profiles' && keys.length > 2;
  const name = isInProfile ? keys[2] : keys[0];
  const file = isInProfile
    ? `the profile ${JSON.stringify(keys[1])} of the config file ${path}`
    : `the config file ${path}`;
  const where = `The${file.slice(3)}`;
  if (typeof name !== 'string')
    return new RekapError(
      'configuration',
      `${where} is not ${issue.message}.`,
      'Write options such as { "base-url": "https://…" }.',
    );
  if (names.includes(name) || name === 'profile' || name === 'profiles')
    return new RekapError(
      'configuration',
      `"${name}" in ${file} is not ${issue.message}.`,
      'Correct it, or remove it from the file.',
    );
  if (/key/i.test(name))
    return new RekapError(
      'configuration',
      `${where} contains "${name}". Config files must not contain API keys.`,
      'Set REKAP_API_KEY, or add "api-key-file" with the name of a file.',
    );
  return new RekapError(
    'configuration',
    `${where} contains the unknown option "${name}".`,
    didYouMean(name, names, 'For the list of options, run "rekap <command> --help".', (one) => JSON.stringify(one)),
  );
}
