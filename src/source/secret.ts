/** A secret that prints as [redacted] wherever it is printed, logged, inspected or serialised, and that is found in whatever repeats it. */

import { inspect } from 'node:util';
import { RekapError } from '../errors.ts';

const redacted = '[redacted]';

export class Secret {
  readonly #value: string;
  /** The same in another form that is sent; null where there is none. */
  readonly #also: Secret | null;
  /** The forms below as patterns, made when first needed: in bytes, and in messages, where case may have changed too. */
  #inBytes: RegExp | null = null;
  #inMessages: RegExp | null = null;

  /** @throws `usage` where a program has no secret to give, such as from a variable that is not set. */
  constructor(value: string, also: string | null = null) {
    if (typeof value !== 'string')
      throw new RekapError('usage', 'The API key is not a string.', 'Pass a string to `new Secret(…)`.');
    this.#value = value;
    this.#also = also === null ? null : new Secret(also);
  }

  /** The secret itself; to be called only where it goes into a request's header. */
  reveal(): string {
    return this.#value;
  }

  /**
   * A message in which the secret is replaced, however JSON, a URL, a host name or HTML would write it. Format characters
   * that could hide it go first.
   */
  redact(text: string): string {
    // A shorter one would stand in any text by chance.
    if (this.#value.length < 4) return text;
    if (this.#also !== null) text = this.#also.redact(text);
    const plain = text.replace(/\p{Cf}/gu, '');
    this.#inMessages ??= new RegExp(this.#forms(), 'gi');
    const clean = plain.replace(this.#inMessages, redacted);
    return clean === plain ? text : clean;
  }

  /** Bytes in which the secret is replaced, however JSON, a URL or HTML would write it; the very same where it does not stand in them. */
  removeFrom(bytes: Buffer): Buffer {
    if (this.#also !== null) bytes = this.#also.removeFrom(bytes);
    // Nearly every answer ends here: four searches for bytes cost next to nothing, and a secret in disguise needs one of them.
    const disguises = [
      '\\u00',
      '%',
      '&#',
      ...(/["\\/]/.test(this.#value) ? ['\\'] : []),
      ...(Array.from(this.#value).some((character) => entities.has(character)) ? ['&'] : []),
    ];
    if (!bytes.includes(this.#value) && !disguises.some((mark) => bytes.includes(mark))) return bytes;
    // One character per byte, so that bytes which are no UTF-8 stay what they are.
    const text = bytes.toString('latin1');
    this.#inBytes ??= new RegExp(this.#forms(), 'g');
    const clean = text.replace(this.#inBytes, redacted);
    return clean === text ? bytes : Buffer.from(clean, 'latin1');
  }

  /** A pattern for the secret with each of its characters written in any way. */
  #forms(): string {
    return Array.from(this.#value, formsOf).join('');
  }

  toString(): string {
    return redacted;
  }

  toJSON(): string {
    return redacted;
  }

  [inspect.custom](): string {
    return redacted;
  }
}

/** What HTML calls the characters that keys are made of, besides letters, digits, the hyphen and the tilde. */
const entities: ReadonlyMap<string, string> = new Map(
  Object.entries({
    '&': 'amp|AMP',
    '<': 'lt|LT',
    '>': 'gt|GT',
    '"': 'quot|QUOT',
    "'": 'apos',
    '!': 'excl',
    '#': 'num',
    $: 'dollar',
    '%': 'percnt',
    '(': 'lpar',
    ')': 'rpar',
    '*': 'ast|midast',
    '+': 'plus',
    ',': 'comma',
    '.': 'period',
    '/': 'sol',
    ':': 'colon',
    ';': 'semi',
    '=': 'equals',
    '?': 'quest',
    '@': 'commat',
    '[': 'lsqb|lbrack',
    '\\': 'bsol',
    ']': 'rsqb|rbrack',
    '^': 'Hat',
    _: 'lowbar|UnderBar',
    '`': 'grave|DiacriticalGrave',
    '{': 'lcub|lbrace',
    '|': 'verbar|vert|VerticalLine',
    '}': 'rcub|rbrace',
  }),
);

/**
 * A pattern for one character: itself, A as \u0041, %41 or &#x41;, and what stands for it by name. The slashes are counted only
 * so far, for a source could send a million of them.
 */
function formsOf(character: string): string {
  const code = character.charCodeAt(0);
  const hex = code
    .toString(16)
    .padStart(2, '0')
    .replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
  const forms = [String.raw`\\{1,4}u00${hex}`, `%(?:25)?${hex}`, `&#(?:[xX]0{0,6}${hex}|0{0,6}${code});?`];
  if (/["/]/.test(character)) forms.push(`\\\\{1,4}${character}`);
  // Twice in JSON, four times in JSON within JSON; any other number would only be one more way to read a million of them.
  if (character === '\\') forms.push(String.raw`\\{4}`, String.raw`\\{2}`);
  const names = entities.get(character);
  if (names !== undefined) forms.push(`&(?:${names});`);
  // Last: an escape begins with a character that may stand for itself, and none of it should be left.
  forms.push(character.replace(/[\\^$.*+?()[\]{}|/-]/, String.raw`\$&`));
  return `(?:${forms.join('|')})`;
}
