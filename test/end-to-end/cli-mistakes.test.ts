/** Natural mistakes on the command line: each is named for what it is, with what was probably meant, and no secret is repeated. */

import { describe, expect, it } from 'vitest';
import { runHere } from '../support/run-here.ts';

const key = 'canary-key-0815';

/** What a command line without success says: a sentence, and what to do next. */
async function mistake(words: readonly string[]): Promise<readonly [said: string, next: string]> {
  const { code, stdout, stderr } = await runHere(words);
  expect(stdout + stderr).not.toContain(key);
  const [, said, next] = /^rekap: (.*)\n {2}(.*)\n$/.exec(stderr) ?? [];
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  return [said ?? stderr, next ?? ''];
}

describe('a key on the command line', () => {
  it.each([
    [['--api-key', key], 'REKAP_API_KEY'],
    [['sync', '--api-key', key], '--api-key-file'],
    [['sync', '--sample', `--apiKey=${key}`], '--api-key-file'],
    [['sync', '--base-url', 'https://host', '--x-api-key', key], '--api-key-file'],
    [['sync', '-api-key', key], '--api-key-file'],
    [['query', '--key', key], '--api-key-file'],
    [['serve', '--sample', '--api-keys', key], '--api-keys-file'],
  ])('is refused with the place where it belongs: %j', async (words, place) => {
    expect((await mistake(words))[1]).toContain(place);
  });
});

describe('a mistake', () => {
  it.each<[words: string[], said: string, next: string]>([
    // An option that the command does not have.
    [['query', '--frob'], '--frob', 'rekap query --help'],
    [['query', '--hlep'], '--hlep', 'Did you mean --help?'],
    [['query', 'FROM voters', '--fromat=csv'], '--fromat', 'Did you mean --format?'],
    [['sync', '--pageSize', '3'], '--pageSize', 'Did you mean --page-size?'],
    [['sync', '--sample', '--no-frob'], '--frob', 'rekap sync --help'],
    [['query', 'SELECT 1', `-k${key}`], 'option -k for', 'rekap query --help'],
    [['sync', '--token', key], '--token', 'rekap sync --help'],
    [['diff', '--keep', '3'], 'Unknown option --keep for "rekap diff".', 'Did you mean --'],
    // A command that there is not.
    [['--sample', 'sync'], 'command is missing', 'Put the command first'],
    [['xyzzy', '--sample'], '"xyzzy"', 'rekap --help'],
    [['qurey', 'FROM voters'], '"qurey"', 'Did you mean query?'],
    [['snapshot'], '"snapshot"', 'Did you mean snapshots?'],
    [['snapshots', 'frobnicate'], '"frobnicate" is not a snapshot ID', ''],
    // Too few words, or too many.
    [['query', 'FROM', 'voters'], 'Unexpected argument "voters"', 'quotes'],
    [['snapshots', 'rollback'], 'requires <id>', 'rekap snapshots rollback --help'],
    [['snapshots', 'a', 'b'], 'Unexpected argument "b"', 'rekap snapshots --help'],
    [['diff', 'a', 'b', 'c'], 'Unexpected argument "c"', ''],
  ])('is named, with what was probably meant: %j', async (words, said, next) => {
    const [message, advice] = await mistake(words);
    expect(message).toContain(said);
    expect(advice).toContain(next);
  });

  it('is not to begin SQL with a comment', async () => {
    const { stderr } = await runHere(['query', '-- all\nFROM voters', '--warehouse', '/nonexistent']);
    expect(stderr).toContain('/nonexistent');
  });
});
