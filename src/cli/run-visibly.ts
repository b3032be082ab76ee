/** Runs a sync or replay for the command line: shows progress, passes signals on, and prints the summary. */

import { invocation } from './options/invocation.ts';
import type { LogFormat } from './print/event-log.ts';
import { createProgress } from './print/progress.ts';
import { listenForSignals } from './signals.ts';
import type { Project } from '../project/declaration.ts';
import type { SyncContext, SyncResult } from '../publish/run.ts';
import { systemClock } from '../runtime/context.ts';

/** Runs a sync or replay with signals and progress, and prints its result. */
export async function runVisibly(
  project: Project,
  asJson: boolean,
  run: (context: SyncContext) => Promise<SyncResult>,
  { logFormat, ...offers }: { readonly canResume?: boolean; readonly logFormat: LogFormat },
): Promise<void> {
  const signals = listenForSignals(offers);
  const progress = createProgress(process.stderr, systemClock, logFormat);
  try {
    const result = await run({
      clock: systemClock,
      random: Math.random,
      report(event) {
        if (event.kind === 'begin') invocation.run = event.run;
        progress.report(event);
      },
      signal: signals.signal,
    });
    progress.end(result);
    const { project: _project, ...manifest } = result.manifest;
    if (asJson) (await import('./print/terminal.ts')).printJson({ ...result, manifest });
    else process.stdout.write((await import('./print/sync-summary.ts')).renderSummary(result, project));
  } catch (error) {
    invocation.hasReportedFailure = progress.fail(error);
    throw error;
  } finally {
    progress.abandon();
    signals.stop();
  }
}
