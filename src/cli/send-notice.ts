/** Sends notices of a sync to a dead man's switch or a webhook. */

import { usageError } from './options/usage-error.ts';
import { createHmac } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { messageOf } from '../errors.ts';
import { boundSignal } from '../runtime/bound-signal.ts';

const requestTimeout = 10_000;
/** Milliseconds before each retry of a webhook. */
const webhookDelays = [1000, 5000];

/** @throws `usage` if the text is not an HTTP URL, or contains credentials. */
export function readUrl(text: string | undefined, option: string): URL | null {
  if (text === undefined) return null;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    throw usageError(`--${option} is not a URL.`, 'Use a URL that starts with https:// or http://.');
  if (url.username === '' && url.password === '') return url;
  throw usageError(
    `The URL of --${option} contains a user name or a password, which rekap does not send.`,
    'Use a URL with the secret in its path.',
  );
}

/** Appends a path segment, such as /start or /fail for a dead man's switch. */
export function below(url: URL, name: string): URL {
  const longer = new URL(url);
  longer.pathname = `${url.pathname.replace(/\/$/, '')}/${name}`;
  return longer;
}

/** Errors contain only the host, because the URL may be a secret. */
export async function post(
  url: URL,
  body: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<void> {
  const { request } = await import('undici');
  const late = new Error(`it did not respond within ${requestTimeout / 1000} s`);
  const limit = boundSignal(signal, requestTimeout, () => late);
  try {
    const response = await request(url, { method: 'POST', body, headers, signal: limit.signal });
    await response.body.dump();
    // Redirects are not followed, so they are failures too.
    if (response.statusCode >= 300) throw new Error(`it returned status ${response.statusCode}`);
  } catch (error) {
    throw new Error(`${url.host}: ${messageOf(error)}`, { cause: error });
  } finally {
    limit.end();
  }
}

export async function sendSigned(url: URL, body: string, secret: string | null, signal: AbortSignal): Promise<void> {
  const headers = {
    'content-type': 'application/json',
    ...(secret === null
      ? {}
      : { 'x-rekap-signature': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}` }),
  };
  for (const delay of webhookDelays)
    try {
      return await post(url, body, headers, signal);
    } catch {
      await wait(delay, undefined, { signal });
    }
  await post(url, body, headers, signal);
}
