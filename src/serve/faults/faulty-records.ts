/** Implements the faults that change records: a drifting source, and responses with wrong records. */

import type { AnyPipeline } from '../../project/declaration.ts';
import { fieldPath, readField, writeMember } from '../../project/field-path.ts';
import type { Selection } from '../selection.ts';
import { buildRecordSet, readRecord, type RecordSet, type RecordSource, type ServedRecord } from '../record-source.ts';
import { drawNumber, type Chance } from './chance.ts';
import type { FaultName } from './fault-list.ts';

/** Applies changes to a source. They start over when the source itself changes. */
export function driftingSource(source: RecordSource) {
  const drifted = new Map<string, { readonly base: RecordSet; readonly set: RecordSet }>();
  let copies = 0;

  function current(pipeline: AnyPipeline): RecordSet {
    const base = source.current(pipeline);
    const changed = drifted.get(pipeline.table);
    return changed?.base === base ? changed.set : base;
  }

  return {
    current,
    /** Changes one record of a dataset permanently. Returns false if there are none. */
    drift(pipeline: AnyPipeline, chance: Chance, now: Date): boolean {
      const records = current(pipeline).records.map((text) => readRecord(text, pipeline));
      if (records.length === 0) return false;
      const at = chance.whole('drift at', 0, records.length - 1);
      const record = records[at]!;
      const hasCounts = Object.values(pipeline.columns).some((column) => column.kind === 'count');
      const kind = chance.whole('drift kind', hasCounts ? 0 : 1, 2);
      if (kind === 0) records[at] = increaseCount(record, pipeline, chance);
      else if (kind === 1) records.splice(at, 1);
      else records.splice(at, 0, copyRecord(record, pipeline, (copies += 1)));
      drifted.set(pipeline.table, { base: source.current(pipeline), set: buildRecordSet(records, now) });
      return true;
    },
    close: () => source.close(),
  };
}

/** Increases one count of the record by 1 to 9. An invalid count becomes a number. */
function increaseCount({ text }: ServedRecord, pipeline: AnyPipeline, chance: Chance): ServedRecord {
  const fields = JSON.parse(text) as object;
  const counts = Object.values(pipeline.columns).filter(({ kind }) => kind === 'count');
  const { field } = counts[chance.whole('drift count', 0, counts.length - 1)]!;
  const before = Number(readField(fields, field));
  const more = chance.whole('drift by', 1, 9);
  writeMember(fields, fieldPath(field), String(Number.isSafeInteger(before) ? before + more : more));
  return readRecord(JSON.stringify(fields), pipeline);
}

/** Copies the record under a new name, so that its key is new. */
function copyRecord({ text }: ServedRecord, pipeline: AnyPipeline, number: number): ServedRecord {
  const fields = JSON.parse(text) as object;
  const named = pipeline.key.map((name) => pipeline.columns[name]!).findLast(({ kind }) => kind === 'text');
  if (named !== undefined)
    writeMember(fields, fieldPath(named.field), `${String(readField(fields, named.field))} (${number})`);
  return readRecord(JSON.stringify(fields), pipeline);
}

/** Selects records with faults, and lists these. Faults without effect, such as a clamp on a short list, don't count. */
export function selectWithFaults(
  set: RecordSet,
  { partition, limit, offset }: Omit<Selection, 'list'>,
  chance: Chance,
  isPaged: boolean,
) {
  const faults: FaultName[] = [];
  const strikes = (name: FaultName): boolean => chance.strikes(name) && faults.push(name) > 0;

  let list = set.records;
  if (partition === null) {
    list = withoutHidden(set, chance);
    if (list.length < set.records.length) faults.push('hide');
  } else if (!strikes('foreign')) list = set.byPartition.get(partition) ?? [];
  if (list.length > 1 && strikes('shuffle')) list = chance.reorder(list);

  // Without pages, nobody could tell a list that is cut from a whole one.
  const clamp = isPaged ? (chance.values.clamp ?? limit) : limit;
  let start = offset;
  if (offset > 0 && strikes('restart')) start = 0;
  else if (offset > 0 && strikes('repeat')) start = Math.max(0, offset - Math.min(limit, clamp));

  let length = Math.min(limit, Math.max(0, list.length - start));
  if (length > clamp) {
    faults.push('clamp');
    length = clamp;
  }
  if (length > 1 && strikes('short')) length = chance.whole('length', 1, length - 1);

  const records = list.slice(start, start + length);
  const isTotal = records.length < list.length && strikes('total');
  const hasMore = start + records.length < list.length;
  return { records, count: isTotal ? list.length : records.length, faults, hasMore };
}

function withoutHidden({ records, byPartition }: RecordSet, { values, seed }: Chance): readonly string[] {
  const rate = values.hide ?? 0;
  const hidden = [...byPartition].filter(([partition]) => drawNumber([seed, 'hide', partition]) < rate);
  const texts = new Set(hidden.flatMap(([, own]) => own));
  return texts.size === 0 ? records : records.filter((record) => !texts.has(record));
}
