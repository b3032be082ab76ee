/** Says in words how far the proof of a dataset reaches, if a sync read only what changed. */

import type { Language } from '../project/sql-file.ts';
import { formatNumber } from '../runtime/text.ts';
import type { ManifestDataset } from './snapshot-format.ts';

/** Returns sentences; null if the whole list was read, and no windows came before. */
export function describeReading(
  { reading, partitions, changes }: Pick<ManifestDataset, 'reading' | 'partitions' | 'changes'>,
  language: Language = 'en',
): string | null {
  const window = partitions.find((verdict) => verdict.window !== undefined)?.window;
  if (reading !== undefined && window !== undefined) {
    const changed = formatNumber(changes.added + changes.changed + changes.removed);
    const whole = reading.whole_at!.slice(0, 10);
    const isNew = reading.scope === 'window';
    return language === 'id'
      ? `${isNew ? `${changed} baris berbeda dari snapshot sebelumnya. ` : ''}Yang diminta hanya perubahan sejak ${window.since}. Seluruh daftar terakhir dibuktikan lengkap pada ${whole}.`
      : `${isNew ? `${changed} ${changed === '1' ? 'row differs' : 'rows differ'} from the previous snapshot. ` : ''}Only changes since ${window.since} were requested. The whole list was last proved on ${whole}.`;
  }
  const { added = 0, changed = 0, removed = 0 } = reading?.missed ?? {};
  const missed = added + changed + removed;
  if (missed === 0) return null;
  return language === 'id'
    ? `Seluruh daftar dibaca, dan memuat ${formatNumber(missed)} perubahan yang tidak terlihat pada pengambilan data sebelumnya.`
    : `The whole list was read, and shows ${formatNumber(missed)} ${missed === 1 ? 'change' : 'changes'} that windows don't show.`;
}

/** Returns the sentences of all datasets that have some, each with its dataset. */
export function describeReadings(datasets: Readonly<Record<string, ManifestDataset>>): string[] {
  return Object.entries(datasets).flatMap(([table, dataset]) => {
    const text = describeReading(dataset);
    return text === null ? [] : [`${table}: ${text}`];
  });
}
