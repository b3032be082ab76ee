/** Where a query comes from: the command line, a file, or standard input; and the values of its parameters. */

import { readNamedFile } from './options/shared.ts';
import { RekapError } from '../errors.ts';

export interface GivenSql {
  /** The word on the command line; "-" is standard input. */
  readonly word: string | undefined;
  readonly file: string | undefined;
}

/** More than this is no query. */
const mostCharacters = 10_000_000;

/** @throws `usage` where there is none, or more than one. */
export async function readSql({ word, file }: GivenSql): Promise<string> {
  if (word !== undefined && file !== undefined)
    throw new RekapError('usage', 'You gave two queries: an argument and --file.', 'Give only one of them.');
  if (file !== undefined && file !== '-') return readNamedFile('query', file, 'file');
  if (word !== undefined && word !== '-') return word;
  if (word === undefined && file === undefined && process.stdin.isTTY)
    throw new RekapError(
      'usage',
      'The query is missing.',
      'Give it as an argument, such as rekap query "SHOW TABLES", as a file with -f, or on standard input.',
    );
  let text = '';
  process.stdin.setEncoding('utf8');
  for await (const piece of process.stdin) {
    text += piece;
    if (text.length > mostCharacters)
      throw new RekapError('usage', 'The standard input is too long for a query.', 'Pipe in a single statement.');
  }
  return text;
}

/** Values by name, of texts such as code=11. @throws `usage` where one has no name. */
export function readParameters(given: readonly string[] = []): Readonly<Record<string, string>> {
  return Object.fromEntries(
    given.map((text) => {
      const at = text.indexOf('=');
      if (at > 0) return [text.slice(0, at).replace(/^\$/, ''), text.slice(at + 1)];
      throw new RekapError(
        'usage',
        `--param ${JSON.stringify(text)} does not have the form NAME=VALUE.`,
        'Write --param code=11, and use $code in the query.',
      );
    }),
  );
}
