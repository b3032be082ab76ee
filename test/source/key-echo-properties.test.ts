/** A key that a source repeats is removed however it is written, and nothing else changes. */

import fc from 'fast-check';
import { expect } from 'vitest';
import { Secret } from '../../src/source/secret.ts';
import { holds } from '../support/properties.ts';

/**
 * The characters of a key, without two: with a bracket, "[redacted]" could complete another key, and a backslash could belong to
 * the key or to an escape.
 */
const keyCharacters = Array.from({ length: 0x5e }, (_, index) => String.fromCodePoint(0x21 + index)).filter(
  (character) => !'[]\\'.includes(character),
);
const keys = fc
  .string({
    unit: fc.oneof(fc.constantFrom(...keyCharacters), fc.constantFrom('/', '+', '"', 'a', 'B', '1')),
    minLength: 8,
    maxLength: 20,
  })
  .filter((key) => !/^\d+$/.test(key) && !'redacted'.includes(key));
/** The text around a key, with `@` in place of the key. A backslash directly before it could belong to it. */
const around = fc
  .array(
    fc.oneof(fc.constantFrom('@', '@', '\\', '"', '/', '\n', '\\\\', 'é', '😀', '\u200b'), fc.string({ maxLength: 5 })),
    { maxLength: 8 },
  )
  .map((parts) => parts.join('').replaceAll(/\\+@/g, '@'));

/** A JSON string. The next choice decides how each character is written: as it is, or by one of its escapes. */
function spell(text: string, choices: readonly number[]): string {
  const units = Array.from({ length: text.length }, (_, unit) => text[unit]!);
  const spelled = units.map((unit, place) => {
    const hex = unit.charCodeAt(0).toString(16).padStart(4, '0');
    switch (choices[place % choices.length]) {
      case 0:
        return `\\u${hex}`;
      case 1:
        return `\\u${hex.toUpperCase()}`;
      case 2:
        return unit === '/' ? '\\/' : JSON.stringify(unit).slice(1, -1);
      default:
        return JSON.stringify(unit).slice(1, -1);
    }
  });
  return `"${spelled.join('')}"`;
}

const choices = fc.array(fc.nat(9), { minLength: 1, maxLength: 30 });

holds(
  'removes a repeated key from a response, and changes nothing else',
  fc.property(keys, fc.array(around, { minLength: 1, maxLength: 4 }), choices, (key, texts, spelling) => {
    const filled = texts.map((text) => text.replaceAll('@', () => key));
    const body = Buffer.from(`{"count":1,"data":[${filled.map((text) => spell(text, spelling)).join(',')}]}`);
    const { data } = JSON.parse(new Secret(key).removeFrom(body).toString()) as { data: string[] };
    expect(data).toEqual(filled.map((text) => text.toWellFormed().replaceAll(key, '[redacted]')));
  }),
  { runs: 60 },
);

const invisible = fc.constantFrom('\u200b', '\u00ad', '\ufeff', '\u2060', '\u{e0061}');
const forms = [
  (key: string) => key,
  (key: string) => JSON.stringify(key).slice(1, -1),
  encodeURIComponent,
  (key: string) => key.toLowerCase(),
];

holds(
  'redacts a key from a message, as written in text, JSON, a URL or a host name, also with invisible characters inside',
  fc.property(
    keys,
    fc.constantFrom(...forms),
    fc.string(),
    fc.option(fc.tuple(invisible, fc.nat())),
    (key, form, text, hidden) => {
      const written = form(key);
      const at = hidden === null ? 0 : hidden[1] % written.length;
      const message = `${text} ${written.slice(0, at)}${hidden?.[0] ?? ''}${written.slice(at)} ${text}`;
      const shown = new Secret(key).redact(message).replace(/\p{Cf}/gu, '');
      for (const each of forms) expect(shown).not.toContain(each(key));
    },
  ),
  { runs: 100 },
);

holds(
  'returns the same bytes and the same text if they do not contain the key',
  fc.property(keys, fc.string({ unit: 'binary' }), fc.uint8Array({ maxLength: 200 }), (key, text, bytes) => {
    const body = Buffer.from(bytes);
    fc.pre(!body.includes(key) && forms.every((form) => !text.replace(/\p{Cf}/gu, '').includes(form(key))));
    expect(new Secret(key).removeFrom(body)).toBe(body);
    expect(new Secret(key).redact(text)).toBe(text);
  }),
  { runs: 50 },
);
