/** A key that a source repeats is taken out however it is written, and nothing else is touched. */

import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { withoutKey } from '../../src/source/response-reader.ts';
import { Secret } from '../../src/source/secret.ts';
import { holds } from '../support/properties.ts';

/**
 * What a key may hold, but for brackets, with which the mark that replaces a key could make up another one, and the backslash,
 * of which nobody can say afterwards whether it was the key's or an escape's.
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
/** What stands around a key in a text; `@` is where the key goes. A backslash right before it could be taken for a part of it. */
const around = fc
  .array(
    fc.oneof(fc.constantFrom('@', '@', '\\', '"', '/', '\n', '\\\\', 'é', '😀', '\u200b'), fc.string({ maxLength: 5 })),
    { maxLength: 8 },
  )
  .map((parts) => parts.join('').replaceAll(/\\+@/g, '@'));

/** A string in JSON, each character spelled by the next choice: as it is where it may be, short, or by its number. */
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

describe('an answer', () => {
  holds(
    'that repeats the key holds it no more, and is otherwise as it was',
    fc.property(keys, fc.array(around, { minLength: 1, maxLength: 4 }), choices, (key, texts, spelling) => {
      const filled = texts.map((text) => text.replaceAll('@', () => key));
      const body = Buffer.from(`{"count":1,"data":[${filled.map((text) => spell(text, spelling)).join(',')}]}`);
      const { data } = JSON.parse(withoutKey(body, new Secret(key)).toString()) as { data: string[] };
      expect(data).toEqual(filled.map((text) => text.toWellFormed().replaceAll(key, '[redacted]')));
    }),
    { runs: 500 },
  );

  holds(
    'that does not repeat it is the very same',
    fc.property(keys, fc.uint8Array({ maxLength: 200 }), (key, bytes) => {
      const body = Buffer.from(bytes);
      fc.pre(!body.includes(key));
      expect(withoutKey(body, new Secret(key))).toBe(body);
    }),
    { runs: 200 },
  );
});

describe('a message', () => {
  const invisible = fc.constantFrom('\u200b', '\u00ad', '\ufeff', '\u2060', '\u{e0061}');
  const forms = [
    (key: string) => key,
    (key: string) => JSON.stringify(key).slice(1, -1),
    encodeURIComponent,
    (key: string) => key.toLowerCase(),
  ];

  holds(
    'shows no key, as it is or as JSON, a URL or a host name write it, nor one with invisible characters in between',
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
    { runs: 500 },
  );

  holds(
    'that holds none is the very same',
    fc.property(keys, fc.string({ unit: 'binary' }), (key, text) => {
      fc.pre(forms.every((form) => !text.replace(/\p{Cf}/gu, '').includes(form(key))));
      expect(new Secret(key).redact(text)).toBe(text);
    }),
    { runs: 200 },
  );
});
