/** Reads a window of what changed, and checks that it joins the rows of the previous snapshot. */

import { createCursorReader } from '../kinds/cursor.ts';
import type { AnyPipeline } from '../project/declaration.ts';
import type { RunEvent } from '../runtime/context.ts';
import { countOf } from '../runtime/text.ts';
import type { AcceptedReading } from '../stages.ts';
import { DatasetExtraction } from './dataset.ts';
import type { ExtractOptions } from './extract-options.ts';
import type { PageHolder } from './page-holder.ts';
import { readDatasets } from './read-datasets.ts';
import { isMissing, type KnownRow, missingIn, type RequestedWindow } from './windows.ts';

/** Reads windows until one joins. Returns null if none does: then only the whole list shows what happened. */
export async function readWindow(
  pipeline: AnyPipeline,
  windows: readonly RequestedWindow[],
  options: ExtractOptions,
  holder: PageHolder,
): Promise<AcceptedReading[] | null> {
  const { table, incremental } = pipeline;
  // A list that is shorter than a window of its last records.
  if (windows.length === 0 && incremental!.lookback === undefined) return null;
  const warn = (message: string): void => options.report({ kind: 'warning', message: `${table}: ${message}.` });
  let why = 'no row of the previous snapshot can begin a window';
  let lost: KnownRow | null = null;
  for (const window of windows) {
    const events: RunEvent[] = [];
    const own = { ...options, report: (event: RunEvent) => void (event.kind === 'warning' && events.push(event)) };
    const readings = await readOnce(pipeline, window, own, holder);
    if (typeof readings === 'string') {
      why = `the window since ${window.since} could not be proved: ${readings}. If this repeats, check "incremental" and the "format" of ${incremental!.cursor} in the declaration`;
      break;
    }
    const found = await readCursors(pipeline, incremental!.cursor, readings);
    const row = missingIn(window, found);
    const isGone = lost !== null && isMissing(lost, found);
    if (row === null) {
      for (const event of events) options.report(event);
      warnOfIgnored(window, found, warn);
      return readings.map(({ verdict, pages }) => ({
        verdict: { ...verdict, grade: 'incremental', window: { since: window.since, grade: verdict.grade } },
        pages,
      }));
    }
    for (const { pages } of readings) for (const page of pages) page.release();
    const known = `the record ${row.key.replaceAll('\0', ', ')}`;
    why = found.has(row.key)
      ? `${known} has an earlier ${incremental!.cursor} than before`
      : `${known} is not in the window since ${window.since}, so it was deleted, or the source hides it`;
    // A window that begins earlier shows whether only the beginning was wrong.
    if (isGone) break;
    lost = row;
  }
  warn(`the whole list is read, because ${why}`);
  return null;
}

/** Reads one window like a list. If it can't be proved, or the source refuses it, returns the reason. */
async function readOnce(
  pipeline: AnyPipeline,
  { name, since }: RequestedWindow,
  options: ExtractOptions,
  holder: PageHolder,
): Promise<AcceptedReading[] | string> {
  const { table } = pipeline;
  const own: ExtractOptions = {
    ...options,
    window: { [name]: since },
    expected: { ...options.expected, [table]: 0 },
  };
  const readings: AcceptedReading[] = [];
  for await (const { reading } of readDatasets([new DatasetExtraction(pipeline, own, holder, [])], own, holder))
    readings.push(reading);
  const doubt = readings.find(({ verdict }) => !verdict.complete)?.verdict.reason ?? null;
  if (doubt === null) return readings;
  for (const { pages } of readings) for (const page of pages) page.release();
  // What follows is advice on the whole list.
  return doubt.split(/[.;] |\.$/)[0]!;
}

async function readCursors(
  pipeline: AnyPipeline,
  cursor: string,
  readings: readonly AcceptedReading[],
): Promise<ReadonlyMap<string, bigint>> {
  const read = createCursorReader(pipeline, cursor);
  const found = new Map<string, bigint>();
  for (const { pages } of readings)
    for (const accepted of pages) {
      const page = await accepted.read();
      for (let row = 0; row < page.records.length; row += 1) {
        const record = read(page, row);
        if (record !== null) found.set(record.key, record.cursor);
      }
    }
  return found;
}

/** Warns if the source seems to ignore the parameter. The rows are correct, but each sync downloads the whole list. */
function warnOfIgnored(
  { name, above }: RequestedWindow,
  found: ReadonlyMap<string, bigint>,
  warn: (message: string) => void,
): void {
  const older = [...found.values()].filter((cursor) => cursor < above).length;
  if (older > found.size / 2)
    warn(
      `${countOf(older, 'record')} of ${found.size} in the window are older than it begins, so the source seems to ignore "${name}"`,
    );
}
