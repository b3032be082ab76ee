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
  return v.strictObject({ $schema: v.optional(text), ...own }, 'a JSON object');
}

interface NamedFile {
  readonly path: string;
  readonly next: string;
}

/** @throws `configuration` if the file can't be read, or contains an invalid option. */
export async function readConfigFile(
  { path, next }: NamedFile,
  declared: Options,
  options: Options,
): Promise<Readonly<Record<string, unknown>>> {
  const { output, issues } = v.safeParse(configShape(options), await readJson(path, next));
  const [issue] = issues ?? [];
  if (issue !== undefined) throw explainIssue(path, issue, Object.keys(options));
  return Object.fromEntries(Object.entries(output as object).filter(([name]) => Object.hasOwn(declared, name)));
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
  const name = issue.path?.[0]?.key;
  const file = `the config file ${path}`;
  const where = `The config file ${path}`;
  if (typeof name !== 'string')
    return new RekapError(
      'configuration',
      `${where} is not ${issue.message}.`,
      'Write options such as { "base-url": "https://…" }.',
    );
  if (names.includes(name))
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
