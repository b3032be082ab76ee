/**
 * A process that syncs and kills itself on the way: at a named step, or just before its n-th change to the file system. It is
 * started from the compiled tests, says `ready` when everything is loaded, and goes on when it is told where to die.
 */

import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { once } from 'node:events';
import type { SyncResult } from '../../src/publish/run.ts';

/** Where the process dies; nowhere where all is null. */
export interface Death {
  readonly step: string | null;
  readonly change: number | null;
}

export interface CrashOrder extends Death {
  readonly warehouse: string;
  readonly url: string;
  /** Whether it makes all views and the report. */
  readonly hasViews: boolean;
}

/** What a process that lives to the end says. */
export interface CrashReport {
  readonly outcome: SyncResult['outcome'];
  readonly steps: readonly string[];
  readonly changes: number;
  /** What the sync took. */
  readonly milliseconds: number;
}

let order: CrashOrder | null = null;
let changes = 0;

/** Counts the calls that change the file system, and dies before the one that is named. */
function countChanges(): void {
  const changing = ['mkdir', 'rename', 'rm', 'symlink', 'writeFile', 'open'] as const;
  const calls = fs as unknown as Record<string, (...words: unknown[]) => unknown>;
  for (const name of changing) {
    const call = calls[name]!;
    calls[name] = (...words) => {
      noteChange();
      return call.apply(fs, words);
    };
  }
  syncBuiltinESMExports();
}

function noteChange(): void {
  if (order === null) return;
  changes += 1;
  if (changes === order.change) die();
}

function die(): void {
  process.kill(process.pid, 'SIGKILL');
}

countChanges();
const [{ sync }, { bundledProject, project, syncOptions }, { versionedKey }, { Secret }] = await Promise.all([
  import('../../src/sync.ts'),
  import('./sync-settings.ts'),
  import('./versioned-service.ts'),
  import('../../src/source/secret.ts'),
]);
// Loaded late by a sync; here they are loaded before, so that a death comes at its place and not in the midst of loading.
await Promise.all([import('../../src/run/build.ts'), import('../../src/publish/check-built.ts')]);
process.send!('ready');
const [message] = (await once(process, 'message')) as [CrashOrder];
order = message;
const { warehouse, url, hasViews, step } = message;
const steps: string[] = [];
// Without its parent it would be one that nobody waits for.
process.on('disconnect', die);
const began = performance.now();
const result = await sync(
  hasViews ? bundledProject : project,
  syncOptions(warehouse, url, { apiKey: new Secret(versionedKey), pageSize: 2, keep: 3, acceptChanges: true }),
  {
    clock: {
      now: () => new Date(),
      monotonic: () => performance.now(),
      sleep: () => new Promise((resolve) => setImmediate(resolve)),
    },
    random: Math.random,
    report: (event) => {
      if (event.kind !== 'step') return;
      steps.push(event.step);
      if (event.step === step) die();
    },
    signal: new AbortController().signal,
  },
);
process.off('disconnect', die);
const milliseconds = performance.now() - began;
process.send!({ outcome: result.outcome, steps, changes, milliseconds } satisfies CrashReport);
process.disconnect();
