/** The thread that watches a query: says when it is beyond a bound, and ends the process where it goes on all the same. */

import { rmSync, writeSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import type { Bound, WatchOrder } from './bound-query.ts';

/** Milliseconds between two looks at the memory; a query takes a gigabyte in no less than a second. */
const interval = 20;
/** Milliseconds that a query has to heed an interrupt; memory runs out faster than patience. */
const grace = { memory: 1000, time: 3000 } as const;

const port = parentPort!;
const { left, resident, leftovers, words } = workerData as WatchOrder;

const looking = setInterval(() => {
  if (process.memoryUsage.rss() > resident) breakOff('memory');
}, interval);
const timing = left === null ? undefined : setTimeout(breakOff, left, 'time');

function breakOff(bound: Bound): void {
  // What is merely late may still take too much.
  if (bound === 'memory') clearInterval(looking);
  clearTimeout(timing);
  port.postMessage(bound);
  setTimeout(() => {
    for (const file of leftovers) rmSync(file, { force: true });
    writeSync(2, words[bound]);
    process.kill(process.pid, 'SIGKILL');
  }, grace[bound]);
}
