/** The three ways to walk a district: over the pages that a broken-off run has landed, over the page read ahead, or afresh. */

import type { LimitFunction } from 'p-limit';
import { LandingError, RekapError } from '../../errors.ts';
import type { AnyPipeline } from '../../pipeline.ts';
import { firstReading, lateAsking, readAhead, secondAsking } from '../../readings.ts';
import type { Page, PageRequest } from '../../stages.ts';
import { CutPages, cutShort } from './cut-pages.ts';
import { DistrictEnds } from './district-ends.ts';
import type { ExtractQuestion } from './extract-question.ts';
import { firstLength } from './first-lengths.ts';
import type { HeldPage, PageHolder } from './held-pages.ts';
import { PagingHabits } from './paging-habits.ts';
import { isRefusal } from '../ask/refusals.ts';
import type { FetchedPage } from '../ask/answer-reader.ts';
import type { Sweep } from './sweep.ts';
import type { Account, Shown } from './tally.ts';
import { walkDistrict, type Walk, type WalkedPage, type WalkQuestion } from './walk-district.ts';

/** What every walk over a district goes by. */
export interface DistrictQuestion {
  readonly dapil: number;
  /** What the sweep listed of it; null where it listed nothing. */
  readonly listed: Account | null;
  /** What lists, whole or not, and its earlier readings have shown of it. */
  readonly shown: readonly Shown[];
  readonly swept: Sweep | null;
  /** Done when it is known which of the runs that were broken off to go on from. */
  readonly resumable: Promise<void>;
  readonly habits: PagingHabits;
  /** Whether nothing but the law names it, of a source that lists all that it has. */
  readonly isSpare: boolean;
}

export class DistrictWalks {
  private readonly pipeline: AnyPipeline;
  private readonly question: ExtractQuestion;
  private readonly holder: PageHolder;
  private readonly aheadLimit: LimitFunction;
  private readonly ends: DistrictEnds;
  /** Whether pages were read ahead of the end of a list that then went on. */
  private wasTooEarly = false;
  /** First pages to ask for while the sweep comes to its end; null for one whose turn has not come. */
  private readonly ahead = new Map<number, Promise<HeldPage | null> | null>();
  /** Districts whose own pages have brought a record. */
  private readonly given = new Set<number>();

  constructor(pipeline: AnyPipeline, question: ExtractQuestion, holder: PageHolder, aheadLimit: LimitFunction) {
    this.pipeline = pipeline;
    this.question = question;
    this.holder = holder;
    this.aheadLimit = aheadLimit;
    this.ends = new DistrictEnds(pipeline, question);
  }

  /**
   * Asks for first pages as soon as `aheadLimit` allows it, unless they wait in a landing already. Those that were read ahead before are given
   * up, for the list went on: a record that moves between two districts while the list is read could else be missing from all four accounts,
   * from the one district's because they came before the move, and from the other's because they came after it.
   */
  readAhead(districts: readonly number[]): void {
    const earlier = [...this.ahead.values()];
    this.ahead.clear();
    for (const page of earlier)
      void page?.then(
        (held) => held?.release(),
        () => undefined,
      );
    // A list whose pages vary has shown that a short one says nothing.
    this.wasTooEarly ||= earlier.length > 0;
    if (!this.wasTooEarly) for (const dapil of districts) this.readOneAhead(dapil);
  }

  private readOneAhead(dapil: number): void {
    const request = this.request(dapil, readAhead, 0);
    if (!this.holder.hasRoom || this.question.client.hasLanded(request)) return;
    this.ahead.set(dapil, null);
    void this.aheadLimit(async () => {
      if (!this.ahead.has(dapil)) return;
      // Held at once, so that what waits for the end of the sweep counts against the bound.
      const first = this.fetch(request).then(({ refusal, hold }) => (refusal === null ? hold() : null));
      this.ahead.set(dapil, first);
      // Whoever walks the district meets the failure; here it only ends the turn.
      await first.catch(() => undefined);
    });
  }

  /** Whether the district's first page is at hand, or on its way. */
  isAhead(dapil: number): boolean {
    return (this.ahead.get(dapil) ?? null) !== null;
  }

  /** Whether any reading of the district has brought a record. */
  hasGiven(dapil: number): boolean {
    return this.given.has(dapil);
  }

  /** The district's first reading. */
  async first(district: DistrictQuestion): Promise<Walk> {
    return (
      (await this.overLanded(district)) ??
      (await this.overAhead(district)) ??
      (await this.afresh(district, firstReading, this.firstLength(district)))
    );
  }

  /**
   * Another reading, whose every page is asked for now. Where the one before rests on where its pages begin, these begin elsewhere.
   *
   * @param longest Records of the longest page of the reading before; null where pages may begin where they did.
   */
  async again(district: DistrictQuestion, reading: number, longest: number | null): Promise<Walk> {
    if (longest === null || longest < 2) return this.afresh(district, reading, null);
    // What the sweep showed of long pages says nothing of a shorter one.
    const first = firstLength(reading, longest, beginsPage(district));
    return this.afresh(district, reading, first, new PagingHabits());
  }

  /** Records that a first reading's first page counts for; null for all of it, where its pages need not begin elsewhere than the list's. */
  private firstLength(district: DistrictQuestion): number | null {
    return beginsPage(district) ? firstLength(firstReading, district.habits.longest, true) : null;
  }

  /** Whether the district, which had no records before, has none now either; null for the list of all. `turn` counts the late askings. */
  async isStillEmpty(dapil: number | null, turn: number): Promise<boolean> {
    try {
      const { page } = await this.fetch(this.request(dapil, lateAsking(turn), 0));
      return page.records.length === 0;
    } catch (error) {
      // Where a refusal stood for "no records", it does so again.
      if (isRefusal(error)) return true;
      throw error;
    }
  }

  /** @param first Records that the first page counts for; null for all of it. */
  private async afresh(
    district: DistrictQuestion,
    reading: number,
    first: number | null,
    habits = district.habits,
  ): Promise<Walk> {
    const cut = new CutPages(this.pipeline, first);
    const walk = await this.walk(district, { cut, habits }, async (offset, again) => {
      const request = this.request(district.dapil, again ? secondAsking(reading) : reading, offset);
      const fetched = await this.question.client.fetchPage(this.pipeline, request, district.isSpare && offset === 0);
      if (fetched.page.records.length > 0) this.given.add(district.dapil);
      cut.follow(fetched.page, offset, again);
      return this.asWalked(fetched, cut.wanted(offset));
    });
    // The source always has a page to give.
    return walk!;
  }

  /**
   * Looks for more where no other account says that the district has come to its end.
   *
   * @throws RepeatedPageError or EarlyEndError; the walk's pages are then released.
   */
  async requireEnd({ dapil, listed }: DistrictQuestion, walk: Walk): Promise<void> {
    if (walk.pages.length === 0 || walk.end === 'sweep' || walk.inOnePiece) return;
    if (walk.isBesideSweep && listed!.set === walk.set) return;
    try {
      await this.ends.require(dapil, walk);
    } catch (error) {
      for (const page of walk.pages) page.release();
      throw error;
    }
  }

  /**
   * The walk over pages that were landed before this run began; null where one is missing, or where their values are not those that the
   * list holds now: a figure may have been restated since. None of them is mixed with pages of now: a page from before the sweep and
   * one from after it could both slip past the same record when the source changes in between. Landed pages that make no walk are no
   * failure, for the source can be asked.
   */
  private async overLanded(district: DistrictQuestion): Promise<Walk | null> {
    const { client } = this.question;
    const { listed, resumable } = district;
    // Nothing says what the source holds now of a district that the list does not name.
    if (listed === null) return null;
    const firstPage = this.request(district.dapil, firstReading, 0);
    const cut = new CutPages(this.pipeline, this.firstLength(district));
    if (!client.hasLanded(firstPage)) return null;
    await resumable;
    if (!client.hasLanded(firstPage)) return null;
    let pages = 0;
    try {
      const walk = await this.walk(district, { cut, habits: district.habits }, async (offset, again) => {
        const number = again ? secondAsking(firstReading) : firstReading;
        const recalled = await client.recallPage(this.pipeline, this.request(district.dapil, number, offset));
        if (recalled === null) return null;
        pages += 1;
        return this.asWalked(recalled, cut.wanted(offset));
      });
      if (walk === null) return null;
      if (walk.content !== listed.content) {
        for (const page of walk.pages) page.release();
        return null;
      }
      client.noteResumed(pages);
      return walk;
    } catch (error) {
      this.question.signal.throwIfAborted();
      if (error instanceof RekapError && !(error instanceof LandingError)) return null;
      throw error;
    }
  }

  /** The walk over the page that was read ahead, where that page is all there is, for the same reason. */
  private async overAhead(district: DistrictQuestion): Promise<Walk | null> {
    const { dapil, swept } = district;
    const ahead = this.ahead.get(dapil) ?? null;
    if (ahead === null) return null;
    this.ahead.delete(dapil);
    const held = await ahead;
    // "Not found" for a district that the list names may be a slip of the moment.
    if (held === null) return null;
    if (swept?.listing.isClosed(dapil) !== true) {
      held.release();
      return null;
    }
    try {
      return await this.walk(district, { cut: null, habits: district.habits }, async (offset, again) => {
        if (offset > 0) return null;
        if (again) return this.fetch(this.request(dapil, secondAsking(firstReading), offset));
        return { page: await held.read(), at: held.at, refusal: null, wanted: null, hold: () => held };
      });
    } catch (error) {
      held.release();
      throw error;
    }
  }

  private async walk(
    district: DistrictQuestion,
    { cut, habits }: { readonly cut: CutPages | null; readonly habits: PagingHabits },
    fetch: WalkQuestion['fetch'],
  ): Promise<Walk | null> {
    const { dapil, listed, shown, swept } = district;
    const walk = await walkDistrict({
      pipeline: this.pipeline,
      dapil,
      maxRecords: this.question.maxRecords,
      listed,
      proof: swept?.listing.isClosed(dapil) === true ? listed : null,
      listedBorders: swept?.listing.bordersOf(dapil) ?? new Set(),
      // What a walk that came to nothing has shown counts for nothing: which walks do so is a matter of time.
      habits: habits.forWalk(),
      shown: cut === null ? shown : [...shown, cut.beyond],
      fetch,
    });
    if (walk !== null) this.ends.note(walk);
    return walk;
  }

  private async fetch(request: PageRequest): Promise<WalkedPage> {
    return this.asWalked(await this.question.client.fetchPage(this.pipeline, request), null);
  }

  private asWalked(fetched: FetchedPage, wanted: number | null): WalkedPage {
    const { at, refusal } = fetched;
    const reopen = this.reopenerOf(fetched.page.request, wanted);
    const page = cutShort(fetched.page, wanted);
    return { page, at, refusal, wanted, hold: () => this.holder.hold({ ...fetched, page }, reopen) };
  }

  /** A function of its own, for a closure made beside the page would keep it in memory after its release. */
  private reopenerOf(request: PageRequest, wanted: number | null): (bytes: Buffer) => Page {
    return (bytes) => cutShort(this.question.client.reopen(this.pipeline, request, bytes), wanted);
  }

  private request(dapil: number | null, reading: number, offset: number): PageRequest {
    return { dataset: this.pipeline.table, dapil, reading, offset, limit: this.question.pageSize };
  }
}

/** Whether the district begins a page of the list of all districts, and fills one: its own pages would have their borders where the list has them. */
function beginsPage({ dapil, listed, swept, habits }: DistrictQuestion): boolean {
  return swept?.listing.beginsPage(dapil) === true && listed!.total >= habits.longest;
}
