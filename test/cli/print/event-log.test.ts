/** The log of a run contains only declared events with their declared fields. */

import { expect, it } from 'vitest';
import { createEventLog, jsonLine, type LogEntry, logEvents, textLine } from '../../../src/cli/print/event-log.ts';
import { manualClock } from '../../../src/testing/manual-clock.ts';
import { startFaultServer } from '../../support/fault-server.ts';
import { runHere } from '../../support/run-here.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

type Line = Readonly<Record<string, unknown>> & { event: keyof typeof logEvents };

/** Lines of JSON, of which each must be a declared event with the declared fields. */
function readLog(stderr: string): Line[] {
  return stderr
    .trim()
    .split('\n')
    .map((text) => {
      const { time, level, run, event, ...fields } = JSON.parse(text) as Line;
      expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      expect(Object.keys(fields).toSorted()).toEqual(Object.keys(logEvents[event].fields).toSorted());
      expect(level).toBe(logEvents[event].level);
      return { run, event, ...fields };
    });
}

it('contains only declared events of a sync', async () => {
  const warehouse = await temporaryFolder();
  const { stderr } = await runHere(['sync', '--sample', '--log-format', 'json', '--warehouse', warehouse]);
  const lines = readLog(stderr);
  const end = lines.at(-1)!;
  expect(end).toMatchObject({ event: 'run_end', outcome: 'published' });
  expect(new Set(lines.slice(1).map(({ run }) => run))).toEqual(new Set([end['snapshot']]));
  expect(lines.map(({ event }) => event)).toEqual(
    expect.arrayContaining(['run_begin', 'partitions', 'progress', 'step']),
  );
});

it('contains the failure of a sync as JSON', async () => {
  const silent = await startFaultServer(() => {});
  const words = ['sync', '--base-url', silent.url, '--max-duration', '1', '--log-format', 'json'];
  const { stderr, code } = await runHere([...words, '--warehouse', await temporaryFolder()], {
    REKAP_API_KEY: 'a-key',
  }).finally(() => void silent.close());
  expect(code).toBe(4);
  expect(readLog(stderr).at(-1)).toMatchObject({ event: 'run_failed', code: 'run-timeout', exit_code: 4 });
});

it('keeps each event on one line, whatever the source sends', () => {
  const entries: LogEntry[] = [];
  const { report } = createEventLog((entry) => entries.push(entry), manualClock());
  report({ kind: 'warning', message: 'a\nb\u001b[31m\u2028"c"' });
  report({ kind: 'wait', dataset: 'voters', milliseconds: 61_000, why: 'status 503' });
  for (const line of entries.flatMap((entry) => [jsonLine(entry), textLine(entry)]))
    expect(line).not.toMatch(/\p{Cc}/u);
  expect(textLine(entries[1]!)).toMatch(/^\S+Z warning: voters: status 503; retrying in 61 s$/);
});
