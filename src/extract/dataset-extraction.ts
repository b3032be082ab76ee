/** Extracts one dataset: its sweep, the first pages read ahead, and each of its districts until it is proved or named. */

import type { LimitFunction } from 'p-limit';
import {
  LandingError,
  RekapError,
  RepeatedPageError,
  SourceRefusedAllError,
  SourceRefusedKeyError,
  SourceStatusError,
} from '../errors.ts';
import type { AnyPipeline } from '../pipeline.ts';
import type { Page, PageRequest, Verdict } from '../stages.ts';
import { brokenClaims, type CountClaim } from './count-claims.ts';
import type { ExtractQuestion } from './extract-question.ts';
import type { HeldPage, PageHolder } from './held-pages.ts';
import { judgeWalk, maxReadings, type WalkFigures } from './judge-walk.ts';
import { PagingHabits } from './paging-habits.ts';
import type { FetchedPage } from './source-client.ts';
import { selectRecords, sweep, type RefusedSweep, type Sweep } from './sweep.ts';
import type { Account } from './tally.ts';
import { DistrictWalks, type DistrictQuestion } from './district-walks.ts';
import type { Walk } from './walk-district.ts';

export class DatasetExtraction {
  readonly pipeline: AnyPipeline;
  private readonly question: ExtractQuestion;
  private readonly holder: PageHolder;
  private readonly walks: DistrictWalks;
  private habits = new PagingHabits();
  private swept: Sweep | null = null;
  /** A district had records that the sweep did not list. */
  private sweepIsShort = false;
  private readonly claims: CountClaim[] = [];
  /** Districts with records that the sweep does not list at all. */
  private readonly unlisted: number[] = [];
  /** Districts of which the sweep lists the same records with other values. */
  private readonly otherwise: number[] = [];
  private delivering: Promise<void> = Promise.resolve();

  constructor(pipeline: AnyPipeline, question: ExtractQuestion, holder: PageHolder, aheadLimit: LimitFunction) {
    this.pipeline = pipeline;
    this.question = question;
    this.holder = holder;
    this.walks = new DistrictWalks(pipeline, question, holder, aheadLimit);
  }

  async sweep(): Promise<Sweep | null> {
    const result = await this.sweepTwiceAtMost();
    if ('refused' in result) {
      this.warn(
        `the source does not list all districts (${result.refused}); each known district is read to its end instead`,
      );
      return null;
    }
    if (result.listing.total === 0) {
      this.warn('the source lists no record without a district; each known district is read to its end instead');
      return null;
    }
    this.swept = result;
    return result;
  }

  /** A page given twice may be a slip of the moment, such as a cache's; a second sweep that fails too is the source's nature. */
  private async sweepTwiceAtMost(): Promise<Sweep | RefusedSweep> {
    try {
      return await this.sweepOnce(0);
    } catch (error) {
      if (!(error instanceof RepeatedPageError)) throw error;
      this.warn(`the list of all districts is read again: ${error.message.replace(/\.$/, '')}`);
      return this.sweepOnce(2);
    }
  }

  /** @param first Number of the reading: its probe has the next. */
  private sweepOnce(first: number): Promise<Sweep | RefusedSweep> {
    this.habits = new PagingHabits();
    return sweep({
      pipeline: this.pipeline,
      habits: this.habits,
      maxRecords: this.question.maxRecords,
      fetch: async (offset, reading) => {
        const { table: dataset } = this.pipeline;
        const request = { dataset, dapil: null, reading: first + reading, offset, limit: this.question.pageSize };
        const fetched = await this.question.client.fetchPage(this.pipeline, request);
        return { page: fetched.page, hold: (strays) => this.holdStrays(fetched, strays) };
      },
      found: (districts) => {
        for (const dapil of districts) this.walks.readAhead(dapil);
      },
    });
  }

  /** The districts to ask for: listed ones, those of the snapshot before, and the reference's where its ids are of the same kind. */
  districtsToRead(listed: ReadonlySet<number>): number[] {
    const { knownBefore, reference } = this.question;
    const sameKind = this.swept === null || reference.some((dapil) => listed.has(dapil));
    const districts = [...new Set([...listed, ...knownBefore, ...(sameKind ? reference : [])])].toSorted(
      (a, b) => a - b,
    );
    // Those that take several requests come first, so that none is left over at the end.
    const isClosed = (dapil: number): boolean => this.swept?.listing.isClosed(dapil) === true;
    return [...districts.filter((dapil) => !isClosed(dapil)), ...districts.filter(isClosed)];
  }

  /** What is wrong with the whole, once all districts were read. */
  judgeWhole(): Verdict[] {
    this.warnOf(this.unlisted, 'the list of all districts lacks districts that have records');
    this.warnOf(
      this.otherwise,
      'the list of all districts holds other values than the own pages of some, which are published',
    );
    return [...this.judgeDistrictList(), ...this.judgeClaims()];
  }

  /**
   * A sweep that is short, or whose pages overlap, may hide whole districts. Those of the snapshot before or of the reference stand in
   * for it; where there are neither, nothing does.
   */
  private judgeDistrictList(): Verdict[] {
    const { knownBefore, reference, wanted } = this.question;
    const { swept } = this;
    if (swept === null || wanted !== null || knownBefore.length > 0) return [];
    if (!this.sweepIsShort && !swept.listing.overlaps) return [];
    if (reference.some((dapil) => swept.listing.accountOf(dapil) !== null)) return [];
    const reason = 'the unfiltered list is short or its pages overlap, and nothing else says which districts there are';
    return [this.verdict({ dapil: null, proof: 'none', reason })];
  }

  private judgeClaims(): Verdict[] {
    const claims = this.swept === null ? this.claims : [this.swept.claim, ...this.claims];
    return brokenClaims(claims).map(({ dapil, claimed, received }) =>
      this.verdict({
        dapil,
        proof: 'none',
        received,
        reason: `its "count" says ${claimed} records, its pages brought ${received}; the source does not give all that it has`,
      }),
    );
  }

  /** Hands on the sweep's records that name no district: no other request would bring them. */
  async deliverStrays(): Promise<Verdict[]> {
    const strays = this.swept?.strays ?? [];
    if (strays.length === 0) return [];
    const received = strays.reduce((sum, page) => sum + page.length, 0);
    this.warn(`${received} records of the unfiltered list name no district; they go to quarantine`);
    const verdict = this.verdict({
      dapil: null,
      proof: 'sweep',
      listed: received,
      received,
      pages: strays.length,
      at: strays.reduce((latest, page) => (page.at > latest ? page.at : latest), new Date(0)),
    });
    await this.deliver(verdict, strays);
    return [verdict];
  }

  /** Reads a district until it is proved, or named incomplete; a failure of its own becomes its verdict. */
  async readAndDeliver(dapil: number): Promise<Verdict> {
    try {
      return await this.readUntilJudged(dapil);
    } catch (error) {
      // An abort, a refused key or a fault of ours ends the run; any other failure concerns this district.
      this.question.signal.throwIfAborted();
      if (
        !(error instanceof RekapError) ||
        error instanceof SourceRefusedKeyError ||
        error instanceof SourceRefusedAllError ||
        error instanceof LandingError
      )
        throw error;
      const listed = this.listedFor(dapil)?.distinct ?? null;
      if (listed === null && error instanceof SourceStatusError && error.status === 404) {
        // Where nothing else speaks of the district, "not found" is an answer: it has no records.
        this.warn(`district ${dapil}: the source knows no such district (404)`);
        return this.report(this.verdict({ dapil, proof: 'empty page' }));
      }
      return this.report(this.verdict({ dapil, proof: 'none', listed, reason: error.message }));
    }
  }

  private async readUntilJudged(dapil: number): Promise<Verdict> {
    const { swept } = this;
    const listed = this.listedFor(dapil);
    const district: DistrictQuestion = { dapil, listed, swept, habits: this.habits.forDistrict() };
    const earlier: WalkFigures[] = [];
    /** Longest page of the reading before, where that rests on where its pages begin; then the next reading's begin elsewhere. */
    let longest: number | null = null;
    for (let readings = 1; ; readings += 1) {
      let walk: Walk;
      try {
        walk = readings === 1 ? await this.walks.first(district) : await this.walks.again(district, readings, longest);
      } catch (error) {
        if (!(error instanceof RepeatedPageError) || readings >= maxReadings) throw error;
        longest = this.question.pageSize;
        // Two readings agree only where none in between came to nothing.
        earlier.length = 0;
        continue;
      }
      const { pages, at, ...compared } = walk;
      const judgement = judgeWalk(compared, listed, earlier, {
        isClosed: swept?.listing.isClosed(dapil) === true,
        sweepOverlaps: swept?.listing.overlaps === true,
        reading: readings,
      });
      const received = walk.distinct;
      const figures = { dapil, listed: listed?.distinct ?? null, received, pages: pages.length, at, readings };
      if (judgement.kind === 'complete') {
        await this.walks.requirePaging(district, walk);
        if (judgement.warning !== null) this.warn(`district ${dapil}: ${judgement.warning}`);
        this.noteComplete(dapil, walk, listed);
        const verdict = this.verdict({ ...figures, proof: walk.end });
        await this.deliver(verdict, pages);
        return this.report(verdict);
      }
      longest = walk.inOnePiece ? null : Math.max(0, ...pages.map(({ length }) => length));
      for (const page of pages) page.release();
      if (judgement.kind === 'incomplete')
        return this.report(this.verdict({ ...figures, proof: 'none', reason: judgement.reason }));
      earlier.push(compared);
    }
  }

  /** Notes what a complete district says of the list, and of `count`. */
  private noteComplete(dapil: number, walk: Walk, listed: Account | null): void {
    if (walk.claim !== null) this.claims.push(walk.claim);
    if (listed === null ? walk.total > 0 : walk.distinct > listed.distinct) this.sweepIsShort = true;
    if (this.question.wanted !== null && walk.total === 0)
      this.warn(`district ${dapil}: the source has no records of it`);
    if (listed === null) {
      if (this.swept !== null && walk.total > 0) this.unlisted.push(dapil);
    } else if (listed.set === walk.set && listed.total === walk.total && listed.content !== walk.content)
      this.otherwise.push(dapil);
  }

  /** Transformation of a dataset takes one district after another, so that its batches keep an order of their own. */
  private async deliver(verdict: Verdict, pages: readonly HeldPage[]): Promise<void> {
    const turn = this.delivering.then(async () => {
      await this.question.deliver(this.pipeline, { verdict, pages: pages.map((page) => () => page.read()) });
      for (const page of pages) page.release();
    });
    this.delivering = turn.catch(() => undefined);
    await turn;
  }

  private listedFor(dapil: number): Account | null {
    return this.swept?.listing.accountOf(dapil) ?? null;
  }

  private holdStrays(fetched: FetchedPage, strays: Page): HeldPage {
    const starts = [...strays.records.recordStart.subarray(0, strays.records.length)];
    return this.holder.hold({ ...fetched, page: strays }, this.strayReopener(strays.request, starts));
  }

  /** Of an answer's records those that begin at `starts`. A function of its own, so that it does not keep the page in memory. */
  private strayReopener(request: PageRequest, starts: readonly number[]): (bytes: Buffer) => Page {
    return (bytes) => {
      const page = this.question.client.reopen(this.pipeline, request, bytes);
      return selectRecords(
        page,
        starts.map((start) => page.records.recordStart.indexOf(start)),
      );
    };
  }

  /** What is not said is as it is where nothing came. */
  private verdict(parts: Pick<Verdict, 'dapil' | 'proof'> & Partial<Verdict> & { readonly at?: Date }): Verdict {
    const { at = this.question.clock.now(), reason = null, ...rest } = parts;
    const nothing = { listed: null, received: 0, pages: 0, readings: 1 };
    return {
      dataset: this.pipeline.table,
      ...nothing,
      ...rest,
      reason,
      complete: reason === null,
      readAt: at.toISOString(),
    };
  }

  private report(verdict: Verdict): Verdict {
    this.question.report({ kind: 'district', dataset: this.pipeline.table, records: verdict.received, verdict });
    return verdict;
  }

  private warnOf(dapils: readonly number[], what: string): void {
    if (dapils.length === 0) return;
    const named = dapils.toSorted((a, b) => a - b).slice(0, 10);
    this.warn(
      `${what}: ${named.join(', ')}${dapils.length > named.length ? ` and ${dapils.length - named.length} more` : ''}`,
    );
  }

  private warn(message: string): void {
    this.question.report({ kind: 'warning', message: `${this.pipeline.table}: ${message}.` });
  }
}
