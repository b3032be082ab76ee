/** A secret is found however it is written, and shows itself nowhere. */

import fc from 'fast-check';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { withoutKey } from '../../src/source/response-reader.ts';
import { Secret } from '../../src/source/secret.ts';
import { holds } from '../support/properties.ts';

const key = 'kAnary/"key"\\&<47>\'+~=z';
const secret = new Secret(key);
const hex = (character: string): string => character.charCodeAt(0).toString(16).padStart(2, '0');
const each = (write: (character: string) => string): string => Array.from(key, write).join('');

/** What HTML calls some of its characters. */
const names: Readonly<Record<string, string>> = {
  '"': 'quot',
  '<': 'lt',
  '>': 'gt',
  "'": 'apos',
  '/': 'sol',
  '+': 'plus',
  '=': 'equals',
  '\\': 'bsol',
};

/** Every way in which a source may write a key that it repeats. */
const written: readonly (readonly [string, string])[] = [
  ['as it is', key],
  ['in a JSON string', JSON.stringify(key).slice(1, -1)],
  ['in a JSON string as PHP writes it', JSON.stringify(key).slice(1, -1).replaceAll('/', '\\/')],
  ['in JSON escapes', each((character) => `\\u00${hex(character)}`)],
  ['in JSON escapes of capital letters', each((character) => `\\u00${hex(character).toUpperCase()}`)],
  [
    'in JSON escapes here and there',
    each((character) => (/[aeiou/"\\]/i.test(character) ? `\\u00${hex(character)}` : character)),
  ],
  ['in JSON within JSON', JSON.stringify(JSON.stringify(key).slice(1, -1)).slice(1, -1)],
  ['in JSON escapes within JSON', each((character) => `\\\\u00${hex(character)}`)],
  ['in a URL', encodeURIComponent(key)],
  ['in a URL, in small letters', encodeURIComponent(key).replace(/%../g, (escape) => escape.toLowerCase())],
  ['in a URL, every character', each((character) => `%${hex(character)}`)],
  ['in a URL within a URL', encodeURIComponent(encodeURIComponent(key))],
  [
    'in HTML',
    key
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('"', '&quot;')
      .replaceAll("'", '&#39;'),
  ],
  ['in HTML, by names', key.replaceAll('&', '&amp;').replace(/["<>'/+=\\]/g, (character) => `&${names[character]};`)],
  ['in HTML, by numbers that do not end', each((character) => `&#${character.charCodeAt(0)}`)],
  ['in HTML, every character', each((character) => `&#x${hex(character)};`)],
];

it('a key that a program does not have is refused at once', () => {
  const variable: Record<string, string> = {};
  expect(() => new Secret(variable['REKAP_API_KEY']!)).toThrow('The API key is not a string.');
});

describe('a key that an answer repeats', () => {
  it.each(written)('%s, is taken out, and nothing else', (_, form) => {
    const body = Buffer.from(`{"count":1,"data":{"a":"KOTA \u00e9 100% \\u00e9","b":"${form}","c":"<${form}>"}}`);
    expect(withoutKey(body, secret).toString()).toBe(
      '{"count":1,"data":{"a":"KOTA \u00e9 100% \\u00e9","b":"[redacted]","c":"<[redacted]>"}}',
    );
    expect(secret.redact(`answered: ${form}.`)).toBe('answered: [redacted].');
  });

  it('is taken out of bytes that are no text, which stay as they are', () => {
    const body = Buffer.concat([Buffer.from([0xff, 0x00, 0xc3]), Buffer.from(key), Buffer.from([0xfe, 0x80])]);
    expect(withoutKey(body, secret)).toEqual(
      Buffer.concat([Buffer.from([0xff, 0x00, 0xc3]), Buffer.from('[redacted]'), Buffer.from([0xfe, 0x80])]),
    );
  });

  it.each(['short-1', '20241120', '1101110211031104'])(
    'stays where it is %s, which may stand there by chance',
    (short) => {
      const body = Buffer.from(`{"count":1,"data":{"JumlahSeluruhPemilih":"${short}"}}`);
      expect(withoutKey(body, new Secret(short))).toBe(body);
    },
  );

  holds(
    'leaves an answer without it the very same bytes, whatever stands there',
    fc.property(fc.string({ unit: 'binary' }), fc.boolean(), (text, escaped) => {
      const json = JSON.stringify(text);
      const body = Buffer.from(escaped ? json.replace(/[a-z]/g, (letter) => `\\u00${hex(letter)}`) : json);
      expect(withoutKey(body, secret)).toBe(body);
    }),
    { runs: 100 },
  );
});

describe('a message', () => {
  it('loses the key too where a host name has made its letters small, or characters without width stand in it', () => {
    expect(secret.redact(`at http://${key.toLowerCase()}.test`)).toBe('at http://[redacted].test');
    expect(secret.redact(`at ${key.slice(0, 4)}\u200b${key.slice(4)}`)).toBe('at [redacted]');
  });

  it('without the key stays as it is', () => {
    expect(secret.redact('a\u200db kanary')).toBe('a\u200db kanary');
  });
});

it('prints as [redacted] in every way', () => {
  const own = new Secret('a-key-to-print');
  secret.removeFrom(Buffer.from('%'));
  for (const shown of [String(own), JSON.stringify({ own }), inspect({ own }, { showHidden: true, depth: 9 })])
    expect(shown).toContain('[redacted]');
  expect(inspect(secret, { showHidden: true, customInspect: false })).not.toMatch(/anary|u006b/i);
});
