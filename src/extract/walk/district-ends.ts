/** Looks for more where nothing but an empty page says that a district has come to its end. */

import { EarlyEndError } from '../../errors.ts';
import { keyPlaces, type AnyPipeline } from '../../pipeline.ts';
import { offsetProbe } from '../../readings.ts';
import type { Page, PageRequest } from '../../stages.ts';
import type { ExtractQuestion } from './extract-question.ts';
import { fingerprintRecord } from '../scan/fingerprints.ts';
import { probedOffset, requirePaging } from './offset-probe.ts';
import { settleAll } from './settle-all.ts';
import type { Walk } from './walk-district.ts';

/** It is looked for more behind the end at so many times the longest page: a gap in the midst of a district looks like its end. */
const lookedBehind = [1, 4] as const;
/** Of a source that gives pages of so many records, a gap as long as a page would be a wide one. */
const longPage = 10;

export class DistrictEnds {
  private readonly pipeline: AnyPipeline;
  private readonly question: ExtractQuestion;
  /** Records of the longest page that any walk has brought. */
  private longest = 0;
  /** Whether the source has answered whenever it was asked for what lies behind an end; where it has not, each question may cost a timeout. */
  private answersBehind = true;

  constructor(pipeline: AnyPipeline, question: ExtractQuestion) {
    this.pipeline = pipeline;
    this.question = question;
  }

  /** Notes how long pages come. */
  note({ pages }: Walk): void {
    this.longest = Math.max(this.longest, ...pages.map(({ length }) => length));
  }

  /**
   * A district of a single page is asked for from its second record on: a source that knows no `offset` here would give the same again, and
   * one that ends the district too early would give what follows. One that comes in short pages is asked for behind its end.
   *
   * @throws RepeatedPageError or EarlyEndError.
   */
  async require(dapil: number, walk: Walk): Promise<void> {
    const { pipeline } = this;
    const { pageSize } = this.question;
    const lengths = walk.pages.map(({ length }) => length);
    const total = lengths.reduce((sum, length) => sum + length, 0);
    const [first] = walk.pages;
    if (first !== undefined && walk.pages.length === 1 && total > probedOffset) {
      const probe = await this.ask(dapil, probedOffset, pageSize);
      requirePaging(pipeline, await first.read(), probe);
      if (probe.records.length >= total) throw earlyEnd(probe, total);
      return;
    }
    // Of pages of one record, one alone does not say what an offset is.
    if (total === 1 && pageSize === 1) {
      const both = await this.ask(dapil, 0, 2);
      if (both.records.length > total) throw earlyEnd(both, total);
    }
    if (!walk.isCapped && this.longest >= longPage) return;
    const behind = lookedBehind.map((times) => this.tryBehind(dapil, total + times * Math.max(...lengths)));
    for (const page of await settleAll(behind))
      if (page !== null && bringsNew(pipeline, page, walk)) throw earlyEnd(page, total);
  }

  private async ask(dapil: number, offset: number, limit: number): Promise<Page> {
    const { page } = await this.question.client.fetchPage(this.pipeline, this.request(dapil, offset, limit));
    return page;
  }

  /** A page that may not be there; null where it cannot be had, which says as much as an empty one. */
  private async tryBehind(dapil: number, offset: number): Promise<Page | null> {
    if (!this.answersBehind) return null;
    const request = this.request(dapil, offset, this.question.pageSize);
    const fetched = await this.question.client.tryPage(this.pipeline, request);
    if (fetched === null) this.answersBehind = false;
    return fetched?.page ?? null;
  }

  private request(dapil: number, offset: number, limit: number): PageRequest {
    return { dataset: this.pipeline.table, dapil, reading: offsetProbe, offset, limit };
  }
}

/** A source that begins anew behind its end brings nothing new there. */
function bringsNew(pipeline: AnyPipeline, page: Page, { has }: Walk): boolean {
  const key = keyPlaces(pipeline);
  const fingerprint = { high: 0, low: 0 };
  for (let row = 0; row < page.records.length; row += 1) {
    fingerprintRecord(page, row, key, fingerprint);
    if (!has(fingerprint)) return true;
  }
  return false;
}

function earlyEnd({ url, records }: Page, length: number): EarlyEndError {
  return new EarlyEndError(
    `${url} brings ${records.length} records, though the district ended after ${length}: its end is not where the source says.`,
    'Ask the operator of the service, or run the sync again if the source was just changing.',
  );
}
