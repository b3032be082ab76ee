/** Shows that a source pages by `offset`: asked from its second record on, a list must begin with that one. */

import { RepeatedPageError } from '../../errors.ts';
import { keyPlaces, type AnyPipeline } from '../../pipeline.ts';
import type { Page } from '../../stages.ts';
import { fingerprintRecord, type Fingerprint } from '../scan/fingerprints.ts';

/** The offset that a probe asks for. */
export const probedOffset = 1;

/**
 * A source that counts offsets in pages, or gives nothing beyond its first page, would otherwise look like one that has come to its end.
 *
 * @param first The page at offset 0, of two records at least.
 * @param probe The page at `probedOffset`.
 * @throws RepeatedPageError where it begins with another record.
 */
export function requirePaging(pipeline: AnyPipeline, first: Page, probe: Page): void {
  const second = { high: 0, low: 0 };
  fingerprintRecord(first, probedOffset, keyPlaces(pipeline), second);
  requireRecord(pipeline, second, probe);
}

/** @throws RepeatedPageError where the page does not begin with the record of this fingerprint. */
export function requireRecord(pipeline: AnyPipeline, expected: Fingerprint, page: Page): void {
  if (page.records.length > 0) {
    const found = { high: 0, low: 0 };
    fingerprintRecord(page, 0, keyPlaces(pipeline), found);
    if (expected.high === found.high && expected.low === found.low) return;
  }
  throw new RepeatedPageError(
    `${page.url} does not begin with the record that stands there in the list: the source does not page by "offset", or its order is not steady.`,
    'Nothing beyond a first page can be proved; ask the operator of the service, or run the sync again if the source was just changing.',
  );
}
