/** Finds the records behind a row, as received from the source, in the landing of the run that received them. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { RekapError } from '../errors.ts';
import { createPageScanner } from '../source/decode/page-scanner.ts';
import { openLandedRun, readLandedResponses } from '../land/landed-run.ts';
import type { AnyPipeline } from '../project/declaration.ts';
import { isSuccess, type Page } from '../stages.ts';
import { readingOf } from '../publish/carry-over.ts';
import { computeSha256 } from '../publish/manifest.ts';
import { warehousePaths } from '../warehouse/snapshot-format.ts';
import type { Snapshot } from '../warehouse/warehouse.ts';

export interface ReceivedRecord {
  /** The only list of the dataset; or the full listing, or the partition's own list. */
  readonly account: 'list' | 'full listing' | 'partition';
  readonly url: string;
  readonly at: string;
  readonly status: number;
  readonly sha256: string;
  /** The run that landed it, and the response's number in that landing. */
  readonly run: string;
  readonly response: number;
  /** Position of the record in the response, from 1. */
  readonly place: number;
  readonly record: string;
  /** Name of the response's file below --out. */
  readonly file: string;
}

/** Finds records in the newest run that received them, among those whose responses have the rows of the snapshot. */
export async function findRecords(
  warehouse: string,
  { manifest }: Snapshot,
  pipeline: AnyPipeline,
  partition: string | null,
  matches: (page: Page, record: number) => boolean,
): Promise<ReceivedRecord[]> {
  const { landing } = warehousePaths(warehouse);
  const { runs } = readingOf(manifest, pipeline.table);
  for (const run of new Set([manifest.run, ...runs.toReversed()])) {
    if (run !== manifest.run && !existsSync(join(landing, run))) {
      const what = `The response with this record may be in the landing of run ${run}, which is no longer stored.`;
      throw new RekapError('landing', what, 'Run a full sync. To store more responses, use --keep-landing.');
    }
    const records = await readLanding(join(landing, run), run, pipeline, partition, matches);
    if (records.length > 0) return records;
  }
  return [];
}

async function readLanding(
  folder: string,
  run: string,
  pipeline: AnyPipeline,
  partition: string | null,
  matches: (page: Page, record: number) => boolean,
): Promise<ReceivedRecord[]> {
  const lines = await readLandedResponses(folder);
  const landed = await openLandedRun(folder, null);
  const scan = createPageScanner(() => undefined);
  const records: ReceivedRecord[] = [];
  try {
    for (const [response, line] of lines.entries()) {
      const isList = line.partition === null || line.partition === partition;
      if (line.dataset !== pipeline.table || !isSuccess(line.status) || !isList) continue;
      const { request, url, body: bytes, at, status } = await landed.response(response);
      const page = scan(pipeline, request, url, bytes);
      const { records: index } = page;
      for (let record = 0; record < index.length; record += 1) {
        if (!matches(page, record)) continue;
        records.push({
          account: pipeline.partition === undefined ? 'list' : line.partition === null ? 'full listing' : 'partition',
          url,
          at: at.toISOString(),
          status,
          sha256: computeSha256(bytes),
          run,
          response,
          place: record + 1,
          // A record of a table is JSON here. Its line is in the response.
          record: page.bytes.toString('utf8', index.recordStart[record], index.recordEnd[record]),
          file: `${run}-response-${response}.json`,
        });
      }
    }
  } finally {
    await landed.close();
  }
  return records;
}

export async function readResponseBody(warehouse: string, { run, response }: ReceivedRecord): Promise<Buffer> {
  const landed = await openLandedRun(join(warehousePaths(warehouse).landing, run), null);
  try {
    return (await landed.response(response)).body;
  } finally {
    await landed.close();
  }
}
