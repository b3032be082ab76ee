/** Bounds the time and the memory of a query: it is interrupted, and where it heeds no interrupt, the process is ended. */

import { Worker } from 'node:worker_threads';
import { RekapError } from '../errors.ts';

export interface QueryLimits {
  /** Seconds that the query may take; undefined where nobody bounds them. */
  readonly seconds: number | undefined;
  /** Bytes that DuckDB itself is allowed. */
  readonly memory: number;
  /** Files that must not stay where the query is broken off. */
  readonly leftovers: readonly string[];
}

type Bound = 'time' | 'memory';

/**
 * What the thread that watches runs; a text, because Node runs no TypeScript in a thread. It is told the milliseconds that are `left` (null for
 * ever), the bytes that may be `resident`, the `leftovers` to remove, and the `words` to say where it has to end the process. A query takes a
 * gigabyte in no less than a second, so it looks every 20 ms. Memory runs out faster than patience: 1 s to heed an interrupt, else 3 s.
 */
const watching = `
const { rmSync, writeSync } = require('node:fs');
const { parentPort, workerData } = require('node:worker_threads');
const { left, resident, leftovers, words } = workerData;
const looking = setInterval(() => {
  if (process.memoryUsage.rss() > resident) breakOff('memory', 1000);
}, 20);
const timing = left === null ? undefined : setTimeout(breakOff, left, 'time', 3000);
function breakOff(bound, grace) {
  // What is merely late may still take too much.
  if (bound === 'memory') clearInterval(looking);
  clearTimeout(timing);
  parentPort.postMessage(bound);
  setTimeout(() => {
    for (const file of leftovers) rmSync(file, { force: true });
    writeSync(2, words[bound]);
    process.kill(process.pid, 'SIGKILL');
  }, grace);
}`;

/** Milliseconds after which a query is watched. A thread takes some to start, and most queries are done before. */
const patience = 200;

/**
 * A signal that is aborted once the query is beyond a bound, with the reason, and a function that ends the watch.
 *
 * DuckDB's own bound on memory knows nothing of lists and texts that an expression makes, nor of what JavaScript makes of a result, and its
 * interrupt is heeded between two groups of rows. So a thread of its own looks at the memory of the whole process, also while the main one is
 * busy. What does not end soon after its interrupt is killed with the process: Node's own exit waits for DuckDB.
 */
export function boundQuery({ seconds, memory, leftovers }: QueryLimits): {
  signal: AbortSignal;
  stop(): Promise<unknown>;
} {
  const began = performance.now();
  // DuckDB's bound comes first where it holds: it has better words.
  const resident = process.memoryUsage.rss() + 1.25 * memory;
  const errors = { time: tookTooLong(seconds), memory: tookTooMuch() } as const;
  const words = { time: inWords(errors.time), memory: inWords(errors.memory) } as const;
  const controller = new AbortController();
  let thread: Worker | null = null;
  const timer = setTimeout(() => {
    const left = seconds === undefined ? null : seconds * 1000 - (performance.now() - began);
    const workerData = { left, resident, leftovers, words };
    try {
      thread = new Worker(watching, { eval: true, workerData, env: {}, execArgv: [] });
    } catch (error) {
      // Where the system has no thread left, nothing would bound the query.
      return controller.abort(error);
    }
    thread.unref();
    thread.on('message', (bound: Bound) => controller.abort(errors[bound]));
    thread.on('error', (error) => controller.abort(error));
  }, patience).unref();
  return {
    signal: controller.signal,
    async stop() {
      clearTimeout(timer);
      await thread?.terminate();
    },
  };
}

function tookTooLong(seconds: number | undefined): RekapError {
  return new RekapError(
    'query',
    `The query did not finish within ${seconds} s.`,
    'Allow more time with --max-duration.',
  );
}

function tookTooMuch(): RekapError {
  return new RekapError(
    'query',
    'The query, or a value in its result, exceeds the memory limit.',
    'Select less data, or use the DuckDB shell: "rekap shell --duckdb".',
  );
}

function inWords({ message, next }: RekapError): string {
  return `rekap: ${message}\n  ${next}\n`;
}
