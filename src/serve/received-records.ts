/** Reads the records of a snapshot as its run received them, byte for byte and with repeated ones, from the landing. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openAccepted } from '../run/landed-readings.ts';
import { isFrom, nameField } from '../project/field-path.ts';
import { comparePartitions } from '../project/partition-list.ts';
import type { AcceptedReading, Verdict } from '../stages.ts';
import { readRecord, type ServedRecord } from './record-source.ts';
import { warehousePaths } from '../warehouse/snapshot-format.ts';
import type { Snapshot } from '../warehouse/warehouse.ts';

/**
 * Returns the records by dataset, sorted by partition. Leaves out datasets with rows that another run received, and
 * returns none if the landing isn't stored.
 *
 * @throws `landing` if it is damaged.
 */
export async function readReceived(
  warehouse: string,
  { manifest }: Snapshot,
): Promise<ReadonlyMap<string, readonly ServedRecord[]>> {
  const landing = join(warehousePaths(warehouse).landing, manifest.run);
  const received = new Map<string, ServedRecord[]>();
  if (!existsSync(landing)) return received;
  for (const [name, { carried_over: carried }] of Object.entries(manifest.datasets))
    if (carried === 0) received.set(name, []);
  const { readings, close } = await openAccepted(landing, manifest.project);
  const pipelines = new Map(manifest.project.pipelines.map((pipeline) => [pipeline.table, pipeline]));
  /** A record may not repeat the partition that was requested. */
  const serve = ({ dataset, partition }: Verdict, text: string): ServedRecord =>
    partition === null ? readRecord(text, pipelines.get(dataset)!) : { text, partition };
  const nameSlot = ({ dataset }: Verdict): readonly [slot: number, field: string] | null => {
    const { columns } = pipelines.get(dataset)!;
    const field = nameField({ columns });
    const slot = Object.values(columns).findIndex((column) => isFrom(column, 'name'));
    return field === undefined ? null : [slot, JSON.stringify(field)];
  };
  try {
    const sorted: AcceptedReading[] = [];
    for await (const reading of readings) sorted.push(reading);
    sorted.sort((a, b) => comparePartitions(a.verdict.partition, b.verdict.partition));
    for (const { verdict, pages } of sorted) {
      const records = received.get(verdict.dataset);
      if (records === undefined) continue;
      for (const accepted of pages) {
        const { bytes, records: index } = await accepted.read();
        const named = nameSlot(verdict);
        for (let record = 0; record < index.length; record += 1) {
          const text = bytes.toString('utf8', index.recordStart[record], index.recordEnd[record]);
          if (named === null) records.push(serve(verdict, text));
          else {
            const slot = record * index.width + named[0];
            const name = bytes.toString('utf8', index.fieldStart[slot], index.fieldEnd[slot]);
            const rest = text.slice(1).trimStart();
            records.push(serve(verdict, `{${named[1]}:"${name}"${rest === '}' ? '' : ','}${rest}`));
          }
        }
      }
    }
  } finally {
    await close();
  }
  return received;
}
