/** A secret that prints as [redacted] wherever it is printed, logged, inspected or serialised. */

import { inspect } from 'node:util';

export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The secret itself; to be called only where it goes into a request's header. */
  reveal(): string {
    return this.#value;
  }

  /** A text in which the secret, also as JSON, a URL or a host name would write it, is replaced. Format characters that could hide it go first. */
  redact(text: string): string {
    const value = this.#value;
    // A shorter one would stand in any text by chance.
    if (value.length < 4) return text;
    const plain = text.replace(/\p{Cf}/gu, '');
    const forms = new Set([value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value), value.toLowerCase()]);
    const redacted = [...forms].reduce((rest, form) => rest.replaceAll(form, '[redacted]'), plain);
    return redacted === plain ? text : redacted;
  }

  toString(): string {
    return '[redacted]';
  }

  toJSON(): string {
    return '[redacted]';
  }

  [inspect.custom](): string {
    return '[redacted]';
  }
}
