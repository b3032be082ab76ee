/** Looks for more where nothing but an empty page says that a district has come to its end. */

import { EarlyEndError } from '../errors.ts';
import type { AnyPipeline } from '../pipeline.ts';
import type { Page } from '../stages.ts';
import { probedOffset, requirePaging } from './offset-probe.ts';
import { settleAll } from './settle-all.ts';
import type { Walk } from './walk-district.ts';

/** It is looked for more behind the end at so many times the longest page: a gap in the midst of a district looks like its end. */
const lookedBehind = [1, 4] as const;

interface EndQuestion {
  readonly pipeline: AnyPipeline;
  /** Records that a page is asked for. */
  readonly pageSize: number;
  /** Asks for one page of the district; of `limit` records, where that is not the page size. */
  ask(offset: number, limit?: number): Promise<Page>;
  /** The same where there may be none; null where it cannot be had, which says as much as an empty one. */
  tryBehind(offset: number): Promise<Page | null>;
}

/**
 * A district of a single page is asked for from its second record on: a source that knows no `offset` here would give the same again, and
 * one that ends the district too early would give what follows. Any other is asked for behind its end.
 *
 * @throws RepeatedPageError or EarlyEndError.
 */
export async function requireEnd({ pipeline, pageSize, ask, tryBehind }: EndQuestion, { pages }: Walk): Promise<void> {
  const lengths = pages.map(({ length }) => length);
  const total = lengths.reduce((sum, length) => sum + length, 0);
  const [first] = pages;
  if (first !== undefined && pages.length === 1 && total > probedOffset) {
    const probe = await ask(probedOffset);
    requirePaging(pipeline, await first.read(), probe);
    if (probe.records.length >= total) throw earlyEnd(probe, total);
    return;
  }
  // Of pages of one record, one alone does not say what an offset is.
  if (total === 1 && pageSize === 1) {
    const both = await ask(0, 2);
    if (both.records.length > total) throw earlyEnd(both, total);
  }
  const behind = lookedBehind.map((times) => tryBehind(total + times * Math.max(...lengths)));
  for (const page of await settleAll(behind)) if ((page?.records.length ?? 0) > 0) throw earlyEnd(page!, total);
}

function earlyEnd({ url, records }: Page, length: number): EarlyEndError {
  return new EarlyEndError(
    `${url} brings ${records.length} records, though the district ended after ${length}: its end is not where the source says.`,
    'Ask the operator of the service, or run the sync again if the source was just changing.',
  );
}
