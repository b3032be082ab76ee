/** A secret is found however it is written, and is never printed. */

import { inspect } from 'node:util';
import { expect, it } from 'vitest';
import { keyOf } from '../../src/source/credentials.ts';
import { Secret } from '../../src/source/secret.ts';

const key = 'kAnary/"key"\\&<47>\'+~=z';
const secret = new Secret(key);
const hex = (character: string): string => character.charCodeAt(0).toString(16).padStart(2, '0');
const each = (write: (character: string) => string): string => Array.from(key, write).join('');

const names = new Map(Object.entries({ '"': 'quot', '<': 'lt', '>': 'gt', "'": 'apos' }));

/** Every way in which a source can write a key that it repeats. */
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
  ['in HTML', key.replace(/[&<>"]/g, (character) => `&${names.get(character) ?? 'amp'};`).replaceAll("'", '&#39;')],
  ['in HTML, by names', key.replace(/[&"<>']/g, (character) => `&${names.get(character) ?? 'amp'};`)],
  ['in HTML, by unterminated numbers', each((character) => `&#${character.charCodeAt(0)}`)],
  ['in HTML, every character', each((character) => `&#x${hex(character)};`)],
];

it('refuses a key that is undefined', () => {
  const variable: Record<string, string> = {};
  expect(() => new Secret(variable['REKAP_API_KEY']!)).toThrow('not a string');
});

it.each(written)('removes a repeated key that is written %s', (_, form) => {
  const body = Buffer.from(`{"count":1,"data":{"a":"KOTA \u00e9 100% \\u00e9","b":"${form}","c":"<${form}>"}}`);
  expect(secret.removeFrom(body).toString()).toBe(
    '{"count":1,"data":{"a":"KOTA \u00e9 100% \\u00e9","b":"[redacted]","c":"<[redacted]>"}}',
  );
  expect(secret.redact(`answered: ${form}.`)).toBe('answered: [redacted].');
});

it('removes a key from bytes that are not text, and keeps the others', () => {
  const around = (text: string) =>
    Buffer.concat([Buffer.from([0xff, 0x00, 0xc3]), Buffer.from(text), Buffer.from([0xfe, 0x80])]);
  expect(secret.removeFrom(around(key))).toEqual(around('[redacted]'));
});

it.each(['short-1', '20241120', '1101110211031104'])('keeps %s, which can occur by chance', (short) => {
  const body = Buffer.from(`{"count":1,"data":{"JumlahSeluruhPemilih":"${short}"}}`);
  expect(new Secret(short).removeFrom(body)).toBe(body);
});

it('redacts a key in lower case, and with a character without width inside', () => {
  expect(secret.redact(`at http://${key.toLowerCase()}.test`)).toBe('at http://[redacted].test');
  expect(secret.redact(`at ${key.slice(0, 4)}\u200b${key.slice(4)}`)).toBe('at [redacted]');
  expect(secret.redact('a\u200db kanary')).toBe('a\u200db kanary');
});

it('prints as [redacted] in every way', () => {
  const own = new Secret('a-key-to-print');
  secret.removeFrom(Buffer.from('%'));
  for (const shown of [String(own), JSON.stringify({ own }), inspect({ own }, { showHidden: true, depth: 9 })])
    expect(shown).toContain('[redacted]');
  expect(inspect(secret, { showHidden: true, customInspect: false })).not.toMatch(/anary|u006b/i);
});

it('includes the password and the encoded form of a key for basic authentication', () => {
  const encoded = Buffer.from('user:a-long-password').toString('base64');
  const basic = keyOf('user:a-long-password', { basic: true });
  expect(basic.redact(`a-long-password ${encoded} user`)).toBe('[redacted] [redacted] user');
  // Removing a short password would change figures.
  expect(keyOf('user:12345678', { basic: true }).redact('12345678')).toBe('12345678');
});
