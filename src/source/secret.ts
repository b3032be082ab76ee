/** A secret that prints as [redacted] when it is printed, logged, inspected or serialized, and can be removed from texts and bytes. */

import { inspect } from 'node:util';
import { RekapError } from '../errors.ts';

const redacted = '[redacted]';

/** A shorter secret, or one of digits only, could occur in the data by chance. Removing it would change figures. */
const minLength = 8;

/** An API key that prints as [redacted] wherever it is printed, logged or serialized. */
export class Secret {
  readonly #value: string;
  readonly #variables: Readonly<Record<string, string>>;
  readonly #also: Secret[];
  /** Patterns for all forms, created on first use: for bytes, and for messages, where case may differ. */
  #inBytes: RegExp | null = null;
  #inMessages: RegExp | null = null;

  /**
   * @param also Other texts that contain or reveal it.
   * @param variables The secrets of headers that the project declares, by the name of their variable.
   */
  constructor(value: string, also: readonly string[] = [], variables: Readonly<Record<string, string>> = {}) {
    if (typeof value !== 'string')
      throw new RekapError('usage', 'The API key is not a string.', 'Pass a string to `new Secret(…)`.');
    this.#value = value;
    this.#variables = variables;
    this.#also = also.map((text) => new Secret(text));
  }

  /** Hides another text too, such as a token that was obtained with the secret. */
  alsoHide(text: string): void {
    this.#also.push(new Secret(text));
  }

  reveal(): string {
    return this.#value;
  }

  get variables(): Readonly<Record<string, string>> {
    return this.#variables;
  }

  /**
   * Returns a message with the secret replaced, however JSON, a URL, a host name or HTML escapes it. Format characters
   * that could hide it are removed first.
   */
  redact(text: string): string {
    for (const other of this.#also) text = other.redact(text);
    // A shorter one would occur in any text by chance.
    if (this.#value.length < 4) return text;
    const plain = text.replace(/\p{Cf}/gu, '');
    this.#inMessages ??= new RegExp(this.#forms(), 'gi');
    const clean = plain.replace(this.#inMessages, redacted);
    return clean === plain ? text : clean;
  }

  /** Returns bytes with the secret replaced, however JSON, a URL or HTML escapes it; the same buffer if they don't contain it. Short ones stay. */
  removeFrom(bytes: Buffer): Buffer {
    for (const other of this.#also) bytes = other.removeFrom(bytes);
    if (this.#value.length < minLength || /^\d+$/.test(this.#value)) return bytes;
    // Fast path for almost every response: an escaped secret needs one of these marks.
    const escapes = [
      '\\u00',
      '%',
      '&#',
      ...(/["\\/]/.test(this.#value) ? ['\\'] : []),
      ...(Array.from(this.#value).some((character) => Object.hasOwn(entities, character)) ? ['&'] : []),
    ];
    if (!bytes.includes(this.#value) && !escapes.some((mark) => bytes.includes(mark))) return bytes;
    // latin1 has one character per byte, so bytes that aren't UTF-8 stay unchanged.
    const text = bytes.toString('latin1');
    this.#inBytes ??= new RegExp(this.#forms(), 'g');
    const clean = text.replace(this.#inBytes, redacted);
    return clean === text ? bytes : Buffer.from(clean, 'latin1');
  }

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

/** Names of the entities that HTML escapers write. */
const entities: Readonly<Record<string, string>> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": 'apos' };

/**
 * Returns a pattern for one character: itself, A as \u0041, %41 or &#x41;, and its HTML entities. The number of backslashes is limited,
 * because a source could send a million of them.
 */
function formsOf(character: string): string {
  const code = character.charCodeAt(0);
  const hex = code
    .toString(16)
    .padStart(2, '0')
    .replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
  const forms = [String.raw`\\{1,4}u00${hex}`, `%(?:25)?${hex}`, `&#(?:[xX]0{0,6}${hex}|0{0,6}${code});?`];
  if (/["/]/.test(character)) forms.push(`\\\\{1,4}${character}`);
  // Two in JSON, four in JSON within JSON. More alternatives would only slow down the search.
  if (character === '\\') forms.push(String.raw`\\{4}`, String.raw`\\{2}`);
  if (Object.hasOwn(entities, character)) forms.push(`&${entities[character]};`);
  // Last, because an escape starts with a character that may also match as itself, and nothing of it must remain.
  forms.push(character.replace(/[\\^$.*+?()[\]{}|/-]/, String.raw`\$&`));
  return `(?:${forms.join('|')})`;
}
