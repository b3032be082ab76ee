/** Reads the config file: takes its path, gives the options that the command has. It may hold options of other commands, but no unknown ones. */

import { readFile } from 'node:fs/promises';
import * as v from 'valibot';
import { didYouMean } from './names.ts';
import type { Option, Options } from './option.ts';
import { messageOf, RekapError, systemReason } from '../../errors.ts';

const text = v.string('a text');

/** What the file may hold for an option of each type; the message says what it should be. */
const shapes = {
  boolean: v.boolean('true or false'),
  number: v.union([v.number(), v.string()], 'a number'),
  text,
  folder: text,
  list: v.union([text, v.array(v.union([v.string(), v.number()]))], 'a list of texts'),
  texts: v.union([text, v.array(text)], 'a list of texts'),
} as const satisfies Record<Option['type'], v.GenericSchema>;

/** The shape of a config file; its JSON Schema is docs/reference/config.schema.json. */
export function configShape(options: Options) {
  const entries = Object.entries(options).map(([name, { type, describe }]) => [
    name,
    v.optional(v.pipe(shapes[type], v.description(describe))),
  ]);
  // By it, an editor finds the schema of the file.
  const named = [['$schema', v.optional(text)], ...entries];
  return v.strictObject(Object.fromEntries(named) as Record<string, v.GenericSchema>, 'a JSON object');
}

/**
 * @param options Every option of every command.
 * @throws `usage` where it cannot be read, or holds what is no option.
 */
export async function readConfigFile(
  path: string,
  declared: Options,
  options: Options,
): Promise<Readonly<Record<string, unknown>>> {
  const parsed = await readJson(path);
  const { output, issues } = v.safeParse(configShape(options), parsed);
  const [issue] = issues ?? [];
  if (issue !== undefined) throw explainIssue(path, issue, Object.keys(options));
  return Object.fromEntries(Object.entries(output as object).filter(([name]) => Object.hasOwn(declared, name)));
}

async function readJson(path: string): Promise<unknown> {
  try {
    // Some editors put a byte order mark in front.
    return JSON.parse((await readFile(path, 'utf8')).replace(/^\uFEFF/, ''));
  } catch (error) {
    const why =
      error instanceof SyntaxError ? `is not JSON: ${messageOf(error)}` : `cannot be read: ${systemReason(error)}`;
    const message = `The config file ${path} ${why}.`;
    throw new RekapError('usage', message, 'Correct it, or leave --config out.', { cause: error });
  }
}

function explainIssue(path: string, issue: v.BaseIssue<unknown>, names: readonly string[]): RekapError {
  const name = issue.path?.[0]?.key;
  if (typeof name !== 'string')
    return new RekapError(
      'usage',
      `The config file ${path} is not ${issue.message}.`,
      'Write options as { "base-url": "https://…" }.',
    );
  if (names.includes(name))
    return new RekapError(
      'usage',
      `"${name}" in the config file ${path} is not ${issue.message}.`,
      'Correct it, or leave it out.',
    );
  if (/key/i.test(name))
    return new RekapError(
      'usage',
      `The config file ${path} holds "${name}": keys do not belong there.`,
      'Set REKAP_API_KEY, or name a file with "api-key-file".',
    );
  return new RekapError(
    'usage',
    `The config file ${path} holds "${name}", which is no option.`,
    didYouMean(name, names, '"rekap <command> --help" shows what there is.', (one) => JSON.stringify(one)),
  );
}
