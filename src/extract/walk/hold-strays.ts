/** Holds the records of a page that name no district: of the sweep's pages nothing else is kept. */

import type { AnyPipeline } from '../../pipeline.ts';
import type { Page, PageRequest } from '../../stages.ts';
import type { HeldPage, PageHolder } from './held-pages.ts';
import type { FetchedPage } from '../ask/answer-reader.ts';
import { selectRecords } from '../scan/select-records.ts';
import type { SourceClient } from '../ask/source-client.ts';

/** @param rows Places of the records in the page. */
export function holdStrays(
  holder: PageHolder,
  client: SourceClient,
  pipeline: AnyPipeline,
  fetched: FetchedPage,
  rows: readonly number[],
): HeldPage {
  const page = selectRecords(fetched.page, rows);
  return holder.hold({ ...fetched, page }, strayReopener(client, pipeline, page.request, rows));
}

/** A function of its own, so that it does not keep the page in memory. */
function strayReopener(
  client: SourceClient,
  pipeline: AnyPipeline,
  request: PageRequest,
  rows: readonly number[],
): (bytes: Buffer) => Page {
  // The same bytes have the same rows.
  return (bytes) => selectRecords(client.reopen(pipeline, request, bytes), rows);
}
