/** Which records a misbehaving answer holds, and what it says of their number. */

import type { Selection } from '../parameters.ts';
import type { RecordSet } from '../record-source.ts';
import { drawNumber, type Chance } from './chance.ts';
import type { FaultName } from './fault-list.ts';

/** The content of an answer, and the faults that made it another than it should be. */
interface BadSelection {
  readonly records: readonly string[];
  readonly count: number;
  readonly faults: readonly FaultName[];
}

/** Selects records as the faults have it. A fault that was drawn and changes nothing, such as a clamp on a short list, does not count. */
export function selectBadly(set: RecordSet, { district, limit, offset }: Selection, chance: Chance): BadSelection {
  const faults: FaultName[] = [];
  const note = (name: FaultName): true => faults.push(name) > 0 || true;

  const isForeign = district !== null && chance.strikes('foreign') && note('foreign');
  let list = district === null || isForeign ? set.records : (set.byDistrict.get(district) ?? []);
  if (district === null) {
    const shown = withoutHidden(set, chance);
    if (shown.length < list.length) note('hide');
    list = shown;
  }
  if (list.length > 1 && chance.strikes('shuffle') && note('shuffle')) list = chance.reorder('order', list);

  const clamp = chance.values.clamp ?? limit;
  let start = offset;
  if (offset > 0 && chance.strikes('restart') && note('restart')) start = 0;
  else if (offset > 0 && chance.strikes('repeat') && note('repeat'))
    start = Math.max(0, offset - Math.min(limit, clamp));

  let length = Math.min(limit, Math.max(0, list.length - start));
  if (length > clamp && note('clamp')) length = clamp;
  if (length > 1 && chance.strikes('short') && note('short')) length = chance.whole('length', 1, length - 1);

  const records = list.slice(start, start + length);
  const isTotal = records.length < list.length && chance.strikes('total') && note('total');
  return { records, count: isTotal ? list.length : records.length, faults };
}

/** The list without the districts that the seed hides; records that name no district stay. */
function withoutHidden(set: RecordSet, { values, seed }: Chance): readonly string[] {
  const rate = values.hide ?? 0;
  if (rate === 0) return set.records;
  const hidden = new Set<string>();
  for (const [district, records] of set.byDistrict) {
    if (drawNumber([seed, 'hide', district]) < rate) for (const record of records) hidden.add(record);
  }
  return set.records.filter((record) => !hidden.has(record));
}
