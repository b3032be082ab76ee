/** Which run a replay takes that names none: the newest that made tables, and stderr says so where a newer one did not. */

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { appendRun, type RunLine } from '../../src/warehouse/runs-log.ts';
import type { RunEvent } from '../../src/runtime/context.ts';
import { answerJson, startFaultServer } from '../support/fault-server.ts';
import { publishedNation } from '../support/prepared-snapshots.ts';
import { readRunLines } from '../support/run-lines.ts';
import { runHere } from '../support/run-here.ts';
import { runReplay } from '../support/run-replay.ts';
import { runSync, serveData, smallNation } from '../support/served-source.ts';
import { syncOptions } from '../support/sync-settings.ts';

/** A landing that is newer than any that a test makes. */
const newer = '29991231T235959Z-ffffff';

const synced = publishedNation();

/** Replays the newest run; gives what it replayed and its warnings of which one that is. */
async function replayNewest(warehouse: string): Promise<{ outcome: string; run: string; warnings: string[] }> {
  const events: RunEvent[] = [];
  const { outcome, run } = await runReplay(warehouse, {}, (event) => events.push(event));
  const warnings = events.flatMap((event) => (event.kind === 'warning' ? [event.message] : []));
  return { outcome, run, warnings: warnings.filter((message) => message.startsWith('Replaying run ')) };
}

/** Adds a landing without tables, and the line of its run as `change` has it. */
async function addLanding(warehouse: string, change: Partial<RunLine> | null): Promise<void> {
  await mkdir(join(warehouse, 'landing', newer));
  const [line] = await readRunLines(warehouse);
  if (change !== null) await appendRun(warehouse, { ...line!, run: newer, snapshot: null, ...change });
}

describe('a replay that names no run', () => {
  it('takes the newest run without a word where that came to its end', async () => {
    const { warehouse, known } = await synced();
    const [run] = known;
    expect(await replayNewest(warehouse)).toEqual({ outcome: 'reproduced', run, warnings: [] });
  });

  it('passes over a run whose source failed, and says so', async () => {
    const { warehouse, known } = await synced();
    const [run] = known;
    const server = await startFaultServer((request, response) => {
      if (request.url!.includes('id_dapil=1102')) response.destroy();
      else answerJson(response, { count: 0, data: [] });
    });
    await expect(runSync(syncOptions(warehouse, server.url, { partitions: ['1101', '1102'] }))).rejects.toThrow(
      expect.objectContaining({ code: 'incomplete' }),
    );
    await server.close();
    const failed = (await readRunLines(warehouse)).at(-1)!.run!;
    const warning = `Replaying run ${run}, the newest finished run. Run ${failed} failed.`;
    expect(await replayNewest(warehouse)).toEqual({ outcome: 'reproduced', run, warnings: [warning] });
    const { code, stderr } = await runHere(['replay', '--warehouse', warehouse]);
    expect([code, stderr]).toEqual([0, expect.stringContaining(warning)]);
  });

  it.each<[string, Partial<RunLine> | null, string]>([
    ['has no line, for it may be under way', null, 'is still running, or was killed'],
    ['was interrupted', { outcome: 'interrupted' }, 'was interrupted'],
    ['was replayed in vain', { outcome: 'refused', kind: 'replay' }, 'is still running, or was killed'],
  ])('passes over a run that %s', async (_, change, why) => {
    const { warehouse, known } = await synced();
    const [run] = known;
    await addLanding(warehouse, change);
    const { warnings, ...replayed } = await replayNewest(warehouse);
    expect(replayed).toEqual({ outcome: 'reproduced', run });
    expect(warnings).toEqual([expect.stringContaining(`${newer} ${why}.`)]);
  });

  it('takes a run that the gate refused', async () => {
    const { warehouse } = await synced();
    const { url } = await serveData(smallNation({ 1101: 3 }));
    await expect(runSync(syncOptions(warehouse, url))).rejects.toThrow(expect.objectContaining({ code: 'gate' }));
    await addLanding(warehouse, { outcome: 'failed' });
    await expect(replayNewest(warehouse)).rejects.toThrow(expect.objectContaining({ code: 'gate' }));
  });
});
