/** Reads, generates and checks API keys. Accepted keys are stored only as digests. */

import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { RekapError } from '../errors.ts';

/** Visible ASCII, which every client can send in a header. A space would indicate a comment after the key. */
const sendable = /^[\x21-\x7e]*$/;

/** Stores SHA-256 digests, so that a memory dump contains no keys. */
export class ApiKeys {
  readonly #digests: readonly Buffer[];

  constructor(keys: readonly string[]) {
    this.#digests = keys.map(digest);
  }

  /** Compares all digests, each in constant time, so that the time reveals nothing about the keys. */
  accepts(candidate: string | undefined): boolean {
    const offered = digest(candidate ?? '');
    let matches = 0;
    for (const accepted of this.#digests) matches += timingSafeEqual(accepted, offered) ? 1 : 0;
    return candidate !== undefined && matches > 0;
  }
}

/** Returns 32 random bytes in base64url: 43 characters that need no quoting. */
export function generateApiKey(): string {
  return randomBytes(32).toString('base64url');
}

/**
 * Reads keys from `text`, one per line. Ignores blank lines and lines that start with #.
 * @param origin Source of the text, for errors.
 * @throws `usage` if there is no key, or a key can't be sent in a header. Names the line, never the key.
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
    const what = `${origin} does not contain an API key.`;
    throw new RekapError('usage', what, 'Write one key per line. Use long, random keys.');
  }
  return new ApiKeys(keys);
}

function digest(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}
