/** Syncs of the versioned service, each in a process of its own that dies where it is told to. */

import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { CrashOrder, CrashReport, Death } from './crash-child.ts';

const program = fileURLToPath(new URL('../../dist/test/support/crash-child.js', import.meta.url));

export interface DyingSyncs {
  /** How many have died so far. */
  kills(): number;
  /** Lets a process sync until it dies there, or after so many milliseconds; its report where it lives. */
  syncUntil(warehouse: string, death: Partial<Death>, after?: number): Promise<CrashReport | null>;
  close(): void;
}

/** A process that loads, or has loaded, all that a sync needs. */
interface Waiting {
  readonly child: ChildProcess;
  readonly ready: Promise<unknown>;
}

/** @param url Where the versioned service listens. @param hasViews Whether the syncs make all views and the report. */
export function startDyingSyncs(url: string, hasViews: boolean): DyingSyncs {
  let kills = 0;
  let spare: Waiting | null = null;

  function load(): Waiting {
    const child = fork(program, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    return { child, ready: once(child, 'message') };
  }

  /** The next process loads while this one runs. */
  async function takeLoaded(): Promise<ChildProcess> {
    const { child, ready } = spare ?? load();
    spare = load();
    await ready;
    return child;
  }

  return {
    kills: () => kills,
    async syncUntil(warehouse, death, after) {
      const child = await takeLoaded();
      const exit = once(child, 'exit');
      let report: CrashReport | null = null;
      child.on('message', (message) => (report = message as CrashReport));
      child.send({ warehouse, url, hasViews, step: null, change: null, ...death } satisfies CrashOrder);
      const timer = after === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), after);
      const [code, signal] = (await exit) as [number | null, string | null];
      clearTimeout(timer);
      if (code !== 0 && signal !== 'SIGKILL') throw new Error(`a sync ended with exit ${code}, signal ${signal}`);
      if (signal === 'SIGKILL') kills += 1;
      return report;
    },
    close() {
      spare?.child.kill('SIGKILL');
    },
  };
}
