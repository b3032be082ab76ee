/** Records the outcome of a push or pull in runs.jsonl. */

import { ExitCode, messageOf, RekapError } from '../errors.ts';
import { appendRun, type RunLine } from '../warehouse/runs-log.ts';
import { countsOf, outcomeOf } from '../publish/record-run.ts';
import type { Clock } from '../runtime/context.ts';
import type { Manifest } from '../warehouse/snapshot-format.ts';

interface Transfer {
  readonly kind: 'push' | 'pull';
  readonly warehouse: string;
  readonly bucket: string;
  readonly clock: Pick<Clock, 'now'>;
  /** True to record only new snapshots, because a copy may pull every minute. */
  readonly isQuiet: boolean;
}

interface Transferred {
  readonly outcome: RunLine['outcome'];
  readonly bytes: number;
  readonly manifest: Manifest | null;
}

/** Runs `act`, and records its result or failure. A failed record is ignored, because the warehouse may be read-only. */
export async function recordTransfer<Value>(
  { kind, warehouse, bucket, clock, isQuiet }: Transfer,
  act: () => Promise<Value>,
  describe: (value: Value) => Transferred | Promise<Transferred>,
): Promise<Value> {
  const begunAt = clock.now();
  const append = async (
    manifest: Manifest | null,
    end: Pick<RunLine, 'outcome' | 'exit_code' | 'reason' | 'bytes'>,
  ) => {
    const line: RunLine = {
      run: null,
      kind,
      started_at: begunAt.toISOString(),
      finished_at: clock.now().toISOString(),
      source: manifest?.source ?? '',
      snapshot: manifest?.snapshot ?? null,
      requests: 0,
      retries: 0,
      ...countsOf(manifest ?? { datasets: {} }),
      bucket,
      ...end,
    };
    await appendRun(warehouse, line).catch(() => undefined);
  };
  try {
    const value = await act();
    const { manifest, ...end } = await describe(value);
    if (!isQuiet || end.outcome !== 'unchanged')
      await append(manifest, { ...end, exit_code: ExitCode.done, reason: '' });
    return value;
  } catch (error) {
    const exit_code = error instanceof RekapError ? error.exitCode : ExitCode.unexpected;
    if (!isQuiet) await append(null, { outcome: outcomeOf(exit_code), exit_code, reason: messageOf(error) });
    throw error;
  }
}
