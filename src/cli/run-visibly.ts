/** Carries out a sync or a replay where it can be seen and interrupted: progress to stderr, the summary to stdout. */

import type { Project } from '../pipeline.ts';
import type { SyncResult, SyncContext } from '../run/options.ts';
import { systemClock } from '../runtime/system-clock.ts';
import { createProgress } from './print/progress.ts';
import { listenForSignals } from './signals.ts';

export async function runVisibly(
  project: Project,
  asJson: boolean,
  carryOut: (around: SyncContext) => Promise<SyncResult>,
  offers: { readonly canResume?: boolean } = {},
): Promise<void> {
  const signals = listenForSignals(offers);
  const progress = createProgress(process.stderr, systemClock);
  try {
    const result = await carryOut({
      clock: systemClock,
      random: Math.random,
      report: progress.report,
      signal: signals.signal,
    });
    progress.end();
    if (asJson) (await import('./print/terminal.ts')).printJson(result);
    else process.stdout.write((await import('./print/sync-summary.ts')).renderSummary(result, project));
  } finally {
    progress.abandon();
    signals.stop();
  }
}
