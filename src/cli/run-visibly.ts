/** Runs a sync or replay for the command line: shows progress, passes signals on, and prints the summary. */

import { invocation } from './options/invocation.ts';
import type { allOptions } from './options/all-options.ts';
import type { Values } from './options/option.ts';
import { createProgress } from './print/progress.ts';
import { renderSummary } from './print/sync-summary.ts';
import { printJson } from './print/terminal.ts';
import { listenForSignals } from './signals.ts';
import type { Project } from '../project/declaration.ts';
import type { SyncContext, SyncResult } from '../publish/run.ts';
import { systemClock } from '../runtime/context.ts';

export async function runVisibly(
  project: Project,
  { json, 'log-format': logFormat }: Values<Pick<typeof allOptions, 'json' | 'log-format'>>,
  run: (context: SyncContext) => Promise<SyncResult>,
  offers: { readonly canResume?: boolean } = {},
): Promise<void> {
  const { signal, stop } = listenForSignals(offers);
  const progress = createProgress(process.stderr, systemClock, logFormat);
  try {
    const result = await run({
      clock: systemClock,
      random: Math.random,
      report(event) {
        if (event.kind === 'begin') invocation.run = event.run;
        progress.report(event);
      },
      signal,
    });
    progress.end(result);
    const { project: _project, ...manifest } = result.manifest;
    if (json) printJson({ ...result, manifest });
    else process.stdout.write(renderSummary(result, project));
  } catch (error) {
    invocation.hasReportedFailure = progress.fail(error);
    throw error;
  } finally {
    progress.abandon();
    stop();
  }
}
