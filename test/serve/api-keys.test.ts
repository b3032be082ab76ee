/** Keys: which files of keys are read, which candidates are accepted, and that no key can be seen. */

import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { RekapError } from '../../src/errors.ts';
import { ApiKeys, generateApiKey, readApiKeys } from '../../src/serve/api-keys.ts';

describe('ApiKeys', () => {
  const keys = new ApiKeys(['first', 'second']);

  it('accepts each of its keys', () => {
    expect(keys.accepts('first')).toBe(true);
    expect(keys.accepts('second')).toBe(true);
  });

  it.each([undefined, '', 'third', 'firs', 'firstsecond', 'First', ' first'])('refuses %j', (candidate) => {
    expect(keys.accepts(candidate)).toBe(false);
  });

  it('refuses a missing key even where the empty text is a key', () => {
    expect(new ApiKeys(['']).accepts(undefined)).toBe(false);
  });

  it('refuses everything without keys', () => {
    expect(new ApiKeys([]).accepts('')).toBe(false);
  });

  it('shows no key, whichever way it is printed', () => {
    for (const text of [JSON.stringify(keys), inspect(keys, { showHidden: true, depth: 9 })]) {
      expect(text).not.toMatch(/first|second/);
    }
  });
});

describe('generateApiKey', () => {
  it('gives 32 random bytes that a key file takes as they are', () => {
    const key = generateApiKey();
    expect(Buffer.from(key, 'base64url')).toHaveLength(32);
    expect(key).toMatch(/^[\w-]{43}$/);
    expect(generateApiKey()).not.toBe(key);
    expect(readApiKeys(key, 'a test').accepts(key)).toBe(true);
  });
});

describe('readApiKeys', () => {
  it('takes one key per line and passes over blank lines, remarks and the byte order mark', () => {
    const keys = readApiKeys('\uFEFFone\r\n\r\n# of the newsroom\n  two  \n\t\n#three\n', 'keys.txt');
    expect(keys.accepts('one')).toBe(true);
    expect(keys.accepts('two')).toBe(true);
    expect(keys.accepts('#three')).toBe(false);
    expect(keys.accepts('')).toBe(false);
  });

  it.each(['', '\n \n', '# nothing\n'])('refuses a text without keys: %j', (text) => {
    expect(() => readApiKeys(text, 'keys.txt')).toThrow(expect.objectContaining({ code: 'usage' }));
    expect(() => readApiKeys(text, 'keys.txt')).toThrow(/keys\.txt holds no API key/);
  });

  it.each(['sec ret', 'secret # of the newsroom', 'sécret', 'sec\u0000ret', 'sec\u007fret'])(
    'refuses %j, by its line only',
    (line) => {
      let thrown: unknown;
      try {
        readApiKeys(`good\n${line}\n`, 'keys.txt');
      } catch (error) {
        thrown = error;
      }
      expect(thrown).toMatchObject({ code: 'usage' });
      expect((thrown as RekapError).message).toContain('Line 2 of keys.txt');
      expect(`${(thrown as RekapError).message} ${(thrown as RekapError).next}`).not.toMatch(/sec|ret\b/);
    },
  );
});
