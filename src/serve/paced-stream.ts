/** Streams data to a client as fast as the client reads it, and disconnects clients that are too slow. */

import { once } from 'node:events';
import { PassThrough, type Readable } from 'node:stream';
import type { Clock } from '../runtime/context.ts';
import { leastTableRate, slowTableTimeout } from './limits.ts';

const gone = new Error('The client closed the connection.');

/**
 * Returns a stream of the output of `make`. Only time that the service waits counts against the client.
 * @param make Its `write` rejects after the client is gone or disconnected.
 * @param onEnd Called when `make` has ended or failed.
 */
export function pacedStream(
  clock: Pick<Clock, 'monotonic' | 'sleep'>,
  make: (write: (piece: string | Uint8Array) => Promise<void>) => Promise<unknown>,
  onEnd: () => void,
): Readable {
  const stream = new PassThrough();
  let waiting = new AbortController();
  stream.once('close', () => waiting.abort(gone));
  // Milliseconds that the service may still wait for the client.
  let credit = slowTableTimeout;

  async function write(piece: string | Uint8Array): Promise<void> {
    if (stream.destroyed) throw gone;
    // A client that was fast can't save up hours of credit.
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
