/** The keys that the service accepts, kept only as digests. */

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { RekapError } from '../errors.ts';

/** Visible ASCII: what every client can put into a header unchanged. A space would hide a remark after the key. */
const sendable = /^[\x21-\x7e]*$/;

/** A set of accepted keys. It keeps SHA-256 digests, so that no dump of the process or its objects shows a key. */
export class ApiKeys {
  readonly #digests: readonly Buffer[];

  constructor(keys: readonly string[]) {
    this.#digests = keys.map(digest);
  }

  /**
   * Whether `candidate` is one of the keys. It compares all digests, each in constant time, so that the time tells
   * nothing about the keys.
   */
  accepts(candidate: string | undefined): boolean {
    const offered = digest(candidate ?? '');
    let matches = 0;
    for (const known of this.#digests) matches += timingSafeEqual(known, offered) ? 1 : 0;
    return candidate !== undefined && matches > 0;
  }
}

/** A new key: 32 random bytes in base64url, 43 characters that need no quoting anywhere. */
export function generateApiKey(): string {
  return randomBytes(32).toString('base64url');
}

/**
 * Reads keys from `text`, one per line; blank lines and lines that begin with # are ignored. `origin` says in errors
 * where the text came from.
 *
 * @throws `usage` where there is no key, or one that cannot be sent in a header; it names the line, never the key.
 */
export function readApiKeys(text: string, origin: string): ApiKeys {
  const lines = text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .map((line) => line.trim());
  const bad = lines.findIndex((line) => !sendable.test(line) && !line.startsWith('#'));
  if (bad !== -1) {
    const next = 'Use only ASCII letters, digits and punctuation. Write one key per line, with nothing after it.';
    throw new RekapError('usage', `The key on line ${bad + 1} of ${origin} cannot be sent in a header.`, next);
  }
  const keys = lines.filter((line) => line !== '' && !line.startsWith('#'));
  if (keys.length === 0) {
    throw new RekapError(
      'usage',
      `${origin} does not contain an API key.`,
      'Write one key per line. Use long, random keys.',
    );
  }
  return new ApiKeys(keys);
}

/** SHA-256 of a key, which stands for it wherever the key itself must not be. */
export function digest(key: string): Buffer {
  return createHash('sha256').update(key, 'utf8').digest();
}
