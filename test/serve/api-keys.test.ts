/** Keys are read from a file, and never printed. */

import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { ApiKeys, generateApiKey, readApiKeys } from '../../src/serve/api-keys.ts';

describe('a set of keys', () => {
  const keys = new ApiKeys(['first', 'second']);

  it.each<[string | undefined, boolean]>([
    ['first', true],
    ['second', true],
    [undefined, false],
    ['', false],
    ['firs', false],
    ['firstsecond', false],
    ['First', false],
    [' first', false],
  ])('accepts %j: %s', (candidate, isAccepted) => {
    expect(keys.accepts(candidate)).toBe(isAccepted);
    expect(new ApiKeys([]).accepts(candidate)).toBe(false);
  });

  it('prints no key', () => {
    expect(JSON.stringify(keys) + inspect(keys, { showHidden: true, depth: 9 })).not.toMatch(/first|second/);
  });

  it('can be made of a new key: 32 random bytes', () => {
    const made = generateApiKey();
    expect(Buffer.from(made, 'base64url')).toHaveLength(32);
    expect(generateApiKey()).not.toBe(made);
    expect(readApiKeys(made, 'a test').accepts(made)).toBe(true);
  });
});

describe('a file of keys', () => {
  it('has one key per line, and may have blank lines, comments and a byte order mark', () => {
    const keys = readApiKeys('\uFEFFone\r\n\r\n# of the newsroom\n  two  \n\t\n#three\n', 'keys.txt');
    const accepted = ['one', 'two', '#three', ''].filter((candidate) => keys.accepts(candidate));
    expect(accepted).toEqual(['one', 'two']);
  });

  it.each([
    ['# nothing\n \n', 'keys.txt'],
    ['good\nsec ret\n', 'line 2 of keys.txt'],
    ['good\nsécret\n', 'line 2 of keys.txt'],
    ['good\nsec\u0000ret\n', 'line 2 of keys.txt'],
  ])('is refused without naming its keys: %j', (text, message) => {
    const read = () => readApiKeys(text, 'keys.txt');
    expect(read).toThrow(expect.objectContaining({ code: 'usage', message: expect.stringContaining(message) }));
    expect(read).toThrow(expect.objectContaining({ message: expect.not.stringMatching(/good|sec|ret\b/) }));
    expect(read).toThrow(expect.objectContaining({ next: expect.not.stringMatching(/good|sec|ret\b/) }));
  });
});
