/** A record source that changes while it is read, as a source does whose operator corrects figures. */

import type { AnyPipeline } from '../../pipeline.ts';
import { buildRecordSet, type RecordSet, type RecordSource, type ServedRecord } from '../record-source.ts';
import type { Chance } from './chance.ts';

export interface DriftingSource extends RecordSource {
  /** Changes one record of a dataset for good; false where there is none to change. */
  drift(pipeline: AnyPipeline, chance: Chance, now: Date): boolean;
}

/** A dataset as it has become, and the set from which it began. */
interface Drifted {
  readonly began: RecordSet;
  readonly set: RecordSet;
}

/** Puts changes on top of a source. Where that source itself comes to hold other records, they begin anew from these. */
export function driftingSource(source: RecordSource): DriftingSource {
  const drifted = new Map<string, Drifted>();
  let comers = 0;

  function current(pipeline: AnyPipeline): RecordSet {
    const began = source.current(pipeline);
    const known = drifted.get(pipeline.table);
    return known?.began === began ? known.set : began;
  }

  return {
    current,
    drift(pipeline, chance, now) {
      const records = listRecords(current(pipeline));
      if (records.length === 0) return false;
      const at = chance.whole('drift at', 0, records.length - 1);
      const record = records[at]!;
      const kind = chance.whole('drift kind', 0, 2);
      if (kind === 0) records[at] = restate(record, pipeline, chance);
      else if (kind === 1) records.splice(at, 1);
      else records.splice(at, 0, makeComer(record, pipeline, (comers += 1)));
      drifted.set(pipeline.table, { began: source.current(pipeline), set: buildRecordSet(records, now) });
      return true;
    },
    close: () => source.close(),
  };
}

/** The records of a set with the districts under which it has them. */
function listRecords(set: RecordSet): ServedRecord[] {
  const districts = new Map<string, number>();
  for (const [district, texts] of set.byDistrict) for (const text of texts) districts.set(text, district);
  return set.records.map((text) => ({ text, district: districts.get(text) ?? null }));
}

/** The record with one of its counts higher by one to nine; a count that is no number becomes one. */
function restate(record: ServedRecord, pipeline: AnyPipeline, chance: Chance): ServedRecord {
  const counts = Object.values(pipeline.columns).filter(({ kind }) => kind === 'count');
  const { field } = counts[chance.whole('drift count', 0, counts.length - 1)]!;
  const fields = parseFields(record);
  const before = Number(fields[field]);
  const more = chance.whole('drift by', 1, 9);
  fields[field] = String(Number.isSafeInteger(before) ? before + more : more);
  return { ...record, text: JSON.stringify(fields) };
}

/** A new record: a copy of this one under another name, so that its key is one that there has never been. */
function makeComer(record: ServedRecord, pipeline: AnyPipeline, number: number): ServedRecord {
  const fields = parseFields(record);
  const named = pipeline.key.map((name) => pipeline.columns[name]!).findLast(({ kind }) => kind === 'text');
  if (named !== undefined) fields[named.field] = `${String(fields[named.field])} (${number})`;
  return { ...record, text: JSON.stringify(fields) };
}

function parseFields({ text }: ServedRecord): Record<string, unknown> {
  return JSON.parse(text) as Record<string, unknown>;
}
