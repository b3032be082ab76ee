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
  const lines = [
    ['--api-key', key],
    ['sync', '--api-key', key],
    ['sync', '--sample', `--apiKey=${key}`],
    ['sync', '--base-url', 'https://host', '--x-api-key', key],
    ['sync', '-api-key', key],
    ['query', '--key', key],
  ];
  it.each(lines)('is refused with the places where it belongs: %s %s', async (...words) => {
    const [said, next] = await mistake(words);
    expect(said).toMatch(/^There is no option --?(x-)?(api-?)?key: other users of this machine could read/i);
    expect(next).toBe('The key comes from REKAP_API_KEY or from a file named by --api-key-file.');
  });

  it('that a service is to accept is refused too', async () => {
    const [said, next] = await mistake(['serve', '--sample', '--api-keys', key]);
    expect(said).toContain('There is no option --api-keys: ');
    expect(next).toBe('The accepted keys come from REKAP_API_KEYS or from a file named by --api-keys-file.');
  });
});

describe('an option that no command has', () => {
  it.each<[string, string, string[]]>([
    ['--frob', 'shows what there is', ['--frob']],
    ['--frob', 'shows what there is', ['query', '--frob']],
    ['--hlep', 'Did you mean --help?', ['query', '--hlep']],
    ['--fromat', 'Did you mean --format?', ['query', 'FROM', 'voters', '--fromat=csv']],
    ['--wharehouse', 'Did you mean --warehouse?', ['qurey', '--wharehouse', 'x']],
    ['--no-frob', 'shows what there is', ['sync', '--sample', '--no-frob']],
    ['-f', 'Did you mean --format?', ['query', 'SELECT 1', '-format', 'csv']],
    ['-k', 'shows what there is', ['query', 'SELECT 1', `-k${key}`]],
    ['--token', 'shows what there is', ['sync', '--token', key]],
  ])('is named before all else: %s, %s', async (option, meant, words) => {
    const [said, next] = await mistake(words);
    expect(said).toBe(`There is no option ${option}.`);
    expect(next).toContain(meant);
  });

  it('is not seen where another command has it, or in what is no option', async () => {
    expect((await mistake(['diff', '--keep', '3']))[0]).toBe('This command has no option --keep.');
    expect((await mistake(['diff', '--keepLanding', '3']))[0]).toBe('This command has no option --keepLanding.');
    expect((await mistake(['query', '-- all\nFROM voters']))[0]).toBe('There is no SQL to ask.');
  });
});

describe('a command that is none', () => {
  it.each<[string, string, string[]]>([
    ['frob', '"rekap --help" lists the commands.', ['frob']],
    ['frob', '"rekap --help" lists the commands.', ['frob', '--sample']],
    ['frob', '"rekap --help" lists the commands.', ['--warehouse', 'x', 'frob', 'y']],
    ['qurey', 'Did you mean query?', ['qurey', 'FROM voters']],
    ['snapshot', 'Did you mean snapshots?', ['snapshot']],
    ['snapshots lst', 'Did you mean list?', ['snapshots', 'lst']],
    ['snapshots frobnicate', '"rekap snapshots --help" shows what it takes.', ['snapshots', 'frobnicate']],
  ])('is named: %s, %s', async (command, next, words) => {
    expect(await mistake(words)).toEqual([`There is no command "${command}".`, next]);
  });

  it('is not one word too many of a command that there is', async () => {
    expect(await mistake(['diff', 'a', 'b', 'c'])).toEqual([
      '"c" is one word too many.',
      '"rekap diff --help" shows what it takes.',
    ]);
    expect((await mistake(['snapshots', 'show', 'a', 'b']))[0]).toBe('"b" is one word too many.');
    // And nothing is printed, which whoever appends it to a file would have there by then.
    expect((await mistake(['completion', 'zsh']))[0]).toBe('"zsh" is one word too many.');
    expect(await mistake(['snapshots', 'rollback'])).toEqual([
      'Which snapshot to go back to is not said.',
      '"rekap snapshots list" shows their ids.',
    ]);
  });
});

describe('SQL that is no word of its own', () => {
  const quoted = 'The SQL goes into quotes, as one word: rekap query "FROM turnout_national".';

  it('is told to be put into quotes', async () => {
    expect(await mistake(['query'])).toEqual(['There is no SQL to ask.', quoted]);
    expect(await mistake(['query', 'FROM', 'voters'])).toEqual(['"voters" is one word too many.', quoted]);
    const words = ['query', 'SELECT', 'sex, sum(n)', 'FROM', 'counts', '--format', 'csv'];
    expect(await mistake(words)).toEqual(['"sex, sum(n)" is one word too many.', quoted]);
  });
});
