/** A stream to one client that is made as fast as the client takes it, and cut off where the client takes too little. */

import { once } from 'node:events';
import { PassThrough, type Readable } from 'node:stream';
import type { Clock } from '../runtime/context.ts';
import { leastTableRate, slowTableTimeout } from './limits.ts';

const gone = new Error('The client closed the connection.');

/**
 * Returns a stream of what `make` writes. A client that falls more than `slowTableTimeout` behind `leastTableRate` is cut off; only the time
 * that it lets the service wait counts.
 *
 * @param make Its `write` rejects when the client is gone or cut off.
 * @param onEnd Called when `make` has ended, also in vain.
 */
export function pacedStream(
  clock: Pick<Clock, 'monotonic' | 'sleep'>,
  make: (write: (piece: string | Uint8Array) => Promise<void>) => Promise<unknown>,
  onEnd: () => void,
): Readable {
  const stream = new PassThrough();
  let waiting = new AbortController();
  stream.once('close', () => waiting.abort(gone));
  // Milliseconds that the client may still let the service wait.
  let credit = slowTableTimeout;

  async function write(piece: string | Uint8Array): Promise<void> {
    if (stream.destroyed) throw gone;
    // A client that was fast before may not stop for hours.
    credit = Math.min(credit, slowTableTimeout) + (Buffer.byteLength(piece) / leastTableRate) * 1000;
    if (stream.write(piece)) return;
    waiting = new AbortController();
    const { signal } = waiting;
    const since = clock.monotonic();
    const isTooSlow = await Promise.race([
      once(stream, 'drain', { signal }).then(() => false),
      clock.sleep(credit, signal).then(() => true),
    ]).finally(() => waiting.abort());
    if (isTooSlow) throw new Error('The client reads the table too slowly.');
    credit -= clock.monotonic() - since;
  }

  make(write)
    .finally(onEnd)
    .then(
      () => stream.end(),
      (error: unknown) => stream.destroy(error as Error),
    );
  return stream;
}
