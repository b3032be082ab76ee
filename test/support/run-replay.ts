/** Runs a replay as the command line would. */

import { replay } from '../../src/replay.ts';
import type { ReplayOptions, SyncResult } from '../../src/publish/run.ts';
import type { RunEvent } from '../../src/runtime/context.ts';
import { manualClock } from '../../src/testing/manual-clock.ts';
import { project } from './sync-settings.ts';

/** Replays without a service: nothing listens where the run's source was. */
export async function runReplay(
  warehouse: string,
  requested: Partial<ReplayOptions> = {},
  report: (event: RunEvent) => void = () => {},
): Promise<SyncResult> {
  const options = {
    warehouse,
    run: null,
    strict: false,
    refuse: null,
    acceptChanges: false,
    acceptSource: false,
    reportModule: project.reportModule,
  };
  return replay(
    { ...options, ...requested },
    {
      clock: manualClock(),
      random: () => 0.5,
      report,
      signal: new AbortController().signal,
    },
  );
}
