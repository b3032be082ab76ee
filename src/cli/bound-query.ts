/** Bounds the time and the memory of a query: it is interrupted, and where it heeds no interrupt, the process is ended. */

import { createRequire } from 'node:module';
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

export type Bound = 'time' | 'memory';

/** What the thread that watches is told. */
export interface WatchOrder {
  /** Milliseconds until the time is over; null for ever. */
  readonly left: number | null;
  /** Bytes of memory that the process may have. */
  readonly resident: number;
  readonly leftovers: readonly string[];
  /** What to say where the process has to be ended. */
  readonly words: Readonly<Record<Bound, string>>;
}

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
    const workerData: WatchOrder = { left, resident, leftovers, words };
    // Node runs no TypeScript in a thread: from the sources too its program is the one that was built.
    const program = createRequire(import.meta.url).resolve('#query-watch');
    try {
      thread = new Worker(program, { workerData, env: {}, execArgv: [] });
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
    `The query was not done after ${seconds} s.`,
    'Give it more time with --max-duration.',
  );
}

function tookTooMuch(): RekapError {
  return new RekapError(
    'query',
    'The query, or a value of its result, needs more memory than it may take.',
    'Ask for less at a time, or open the snapshot in the DuckDB shell: "rekap connect" prints how.',
  );
}

function inWords({ message, next }: RekapError): string {
  return `rekap: ${message}\n  ${next}\n`;
}
