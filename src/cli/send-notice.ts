/** Sends a notice of a sync by HTTP: to a dead man's switch, or signed to a webhook. */

import { createHmac } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { messageOf, RekapError } from '../errors.ts';

/** Milliseconds for one request. */
const requestTime = 10_000;
/** Milliseconds to wait before a webhook is tried again. */
const webhookWaits = [1000, 5000];

/** A signal that aborts after so many milliseconds, or with the patience. Node may forget one that AbortSignal.any makes of a time limit. */
export function boundTime(milliseconds: number, patience: AbortSignal): { readonly signal: AbortSignal; end(): void } {
  const controller = new AbortController();
  const abort = (): void => controller.abort(new Error('it took too long'));
  const timer = setTimeout(abort, milliseconds);
  if (patience.aborted) abort();
  patience.addEventListener('abort', abort, { once: true });
  return {
    signal: controller.signal,
    end() {
      clearTimeout(timer);
      patience.removeEventListener('abort', abort);
    },
  };
}

/** @throws `usage` where the text is no address, or holds what would not be sent. */
export function readUrl(text: string | undefined, option: string): URL | null {
  if (text === undefined) return null;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new RekapError('usage', `--${option} is not a URL.`, 'Use a URL that starts with https:// or http://.');
  if (url.username === '' && url.password === '') return url;
  throw new RekapError(
    'usage',
    `The URL of --${option} contains a user name or a password, which rekap does not send.`,
    'Use a URL with the secret in its path.',
  );
}

/** The switches there are take /start and /fail below the address of a check. */
export function below(url: URL, name: string): URL {
  const longer = new URL(url);
  longer.pathname = `${url.pathname.replace(/\/$/, '')}/${name}`;
  return longer;
}

/** The address may be a secret itself, so that only its host is named. */
export async function post(
  url: URL,
  body: string,
  headers: Readonly<Record<string, string>>,
  patience: AbortSignal,
): Promise<void> {
  const { request } = await import('undici');
  const limit = boundTime(requestTime, patience);
  try {
    const answer = await request(url, { method: 'POST', body, headers, signal: limit.signal });
    await answer.body.dump();
    // A redirect is not followed, and so nobody has heard.
    if (answer.statusCode >= 300) throw new Error(`it returned ${answer.statusCode}`);
  } catch (error) {
    throw new Error(`${url.host}: ${messageOf(error)}`, { cause: error });
  } finally {
    limit.end();
  }
}

export async function sendSigned(url: URL, body: string, secret: string | null, patience: AbortSignal): Promise<void> {
  const headers = {
    'content-type': 'application/json',
    ...(secret === null
      ? {}
      : { 'x-rekap-signature': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}` }),
  };
  for (const pause of webhookWaits)
    try {
      return await post(url, body, headers, patience);
    } catch {
      await wait(pause, undefined, { signal: patience });
    }
  await post(url, body, headers, patience);
}
