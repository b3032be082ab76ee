/** Limits the time and memory of a query. Interrupts it, or kills the process if the interrupt has no effect. */

import { Worker } from 'node:worker_threads';
import { RekapError } from '../errors.ts';

interface QueryLimits {
  /** Maximum seconds; undefined for no limit. */
  readonly seconds: number | undefined;
  /** DuckDB's own memory limit in bytes. */
  readonly memory: number;
  /** Files to remove before the process is killed. */
  readonly leftovers: readonly string[];
}

/**
 * The code of the watchdog thread, as text, because Node doesn't run TypeScript in threads.
 *
 * `left` is in milliseconds, or null for no limit. `resident` is in bytes. `messages` are printed before the process is killed.
 * Memory is checked every 20 ms, because a query can allocate a gigabyte per second. For the same reason, its grace period is shorter.
 */
const watchdogCode = `
const { rmSync, writeSync } = require('node:fs');
const { parentPort, workerData } = require('node:worker_threads');
const { left, resident, leftovers, messages } = workerData;
const memoryTimer = setInterval(() => {
  if (process.memoryUsage.rss() > resident) interrupt('memory', 1000);
}, 20);
const timeTimer = left === null ? undefined : setTimeout(interrupt, left, 'time', 3000);
function interrupt(limit, grace) {
  // A query that is late can still exceed the memory.
  if (limit === 'memory') clearInterval(memoryTimer);
  clearTimeout(timeTimer);
  parentPort.postMessage(limit);
  setTimeout(() => {
    for (const file of leftovers) rmSync(file, { force: true });
    writeSync(2, messages[limit]);
    process.kill(process.pid, 'SIGKILL');
  }, grace);
}`;

/** Milliseconds before the thread starts. Most queries finish earlier. */
const startDelay = 200;

/**
 * Returns a signal that aborts if the query exceeds a limit, and a function that stops the watchdog.
 *
 * DuckDB's memory limit doesn't include lists and texts in expressions, or results in JavaScript. It checks interrupts only between groups
 * of rows. So a thread watches the process, and kills it if necessary, because Node's own exit waits for DuckDB.
 */
export function boundQuery({ seconds, memory, leftovers }: QueryLimits): {
  signal: AbortSignal;
  stop(): Promise<void>;
} {
  const startedAt = performance.now();
  // Higher than DuckDB's limit, whose messages are better.
  const resident = process.memoryUsage.rss() + 1.25 * memory;
  const errors = {
    time: new RekapError(
      'query',
      `The query did not finish within ${seconds} s.`,
      'Allow more time with --max-duration.',
    ),
    memory: new RekapError(
      'query',
      'The query, or a value in its result, exceeds the memory limit.',
      'Select less data, or open the file in DuckDB: "rekap query" without a statement prints the command.',
    ),
  } as const;
  const messages = { time: formatError(errors.time), memory: formatError(errors.memory) };
  const controller = new AbortController();
  let thread: Worker | null = null;
  const timer = setTimeout(() => {
    const left = seconds === undefined ? null : seconds * 1000 - (performance.now() - startedAt);
    const workerData = { left, resident, leftovers, messages };
    try {
      thread = new Worker(watchdogCode, { eval: true, workerData, env: {}, execArgv: [] });
    } catch (error) {
      // Without a thread, nothing limits the query.
      return controller.abort(error);
    }
    thread.unref();
    thread.on('message', (limit: keyof typeof errors) => controller.abort(errors[limit]));
    thread.on('error', (error) => controller.abort(error));
  }, startDelay).unref();
  return {
    signal: controller.signal,
    async stop() {
      clearTimeout(timer);
      await thread?.terminate();
    },
  };
}

function formatError({ message, next }: RekapError): string {
  return `rekap: ${message}\n  ${next}\n`;
}
