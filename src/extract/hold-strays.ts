/** Holds the records of a page that name no district: of the sweep's pages nothing else is kept. */

import type { AnyPipeline } from '../pipeline.ts';
import type { Page, PageRequest } from '../stages.ts';
import type { HeldPage, PageHolder } from './held-pages.ts';
import type { FetchedPage } from './answer-reader.ts';
import type { SourceClient } from './source-client.ts';
import { selectRecords } from './sweep.ts';

/** @param strays A page of some records of `fetched`, over its bytes. */
export function holdStrays(
  holder: PageHolder,
  client: SourceClient,
  pipeline: AnyPipeline,
  fetched: FetchedPage,
  strays: Page,
): HeldPage {
  const starts = [...strays.records.recordStart.subarray(0, strays.records.length)];
  return holder.hold({ ...fetched, page: strays }, strayReopener(client, pipeline, strays.request, starts));
}

/** Of an answer's records those that begin at `starts`. A function of its own, so that it does not keep the page in memory. */
function strayReopener(
  client: SourceClient,
  pipeline: AnyPipeline,
  request: PageRequest,
  starts: readonly number[],
): (bytes: Buffer) => Page {
  return (bytes) => {
    const page = client.reopen(pipeline, request, bytes);
    return selectRecords(
      page,
      starts.map((start) => page.records.recordStart.indexOf(start)),
    );
  };
}
