/** Extracts one dataset: its sweep, the first pages read ahead, and each of its districts until it is proved or named. */

import type { LimitFunction } from 'p-limit';
import { RepeatedPageError, type RekapError, type SourceStatusError } from '../errors.ts';
import type { AnyPipeline } from '../pipeline.ts';
import { firstReading, maxReadings } from '../readings.ts';
import type { Verdict } from '../stages.ts';
import { orderReading } from './walk/reading-order.ts';
import { DistrictList } from './walk/district-list.ts';
import type { ExtractQuestion } from './walk/extract-question.ts';
import { Findings } from './walk/findings.ts';
import type { HeldPage, PageHolder } from './walk/held-pages.ts';
import { judgeWalk, type WalkFigures } from './walk/judge-walk.ts';
import { concernsOneDistrict, isRefusal, nothingThere } from './ask/refusals.ts';
import { settleAll } from './walk/settle-all.ts';
import { SpareDistricts } from './walk/spare-districts.ts';
import type { Sweep } from './walk/sweep.ts';
import type { Account } from './walk/tally.ts';
import { makeVerdict, type VerdictParts } from './walk/make-verdict.ts';
import { DistrictWalks, type DistrictQuestion } from './walk/district-walks.ts';
import type { Walk } from './walk/walk-district.ts';

/**
 * Milliseconds before each late asking: a source that was empty for some moments, such as while it loads its data, has them again. Two,
 * and of different length, for one that is empty every other moment.
 */
const pausesBeforeLateAsking = [700, 1600] as const;

export class DatasetExtraction {
  readonly pipeline: AnyPipeline;
  private readonly question: ExtractQuestion;
  private readonly walks: DistrictWalks;
  private readonly list: DistrictList;
  private swept: Sweep | null = null;
  /** Done when it is known which of the runs that were broken off to go on from. */
  private resumable = Promise.resolve();
  private readonly findings: Findings;
  /** Why there is no list of all districts, where the source refused it or failed to give it. */
  private withoutSweep: RekapError | null = null;
  /** Whether the list came to its end without a record. */
  private isListEmpty = false;
  private delivering: Promise<void> = Promise.resolve();
  private spare = new SpareDistricts([]);

  constructor(pipeline: AnyPipeline, question: ExtractQuestion, holder: PageHolder, aheadLimit: LimitFunction) {
    this.pipeline = pipeline;
    this.question = question;
    this.findings = new Findings(question);
    this.walks = new DistrictWalks(pipeline, question, holder, aheadLimit);
    this.list = new DistrictList(pipeline, question, holder, {
      goesOn: (closed) => this.walks.readAhead(closed),
      warn: (message) => this.warn(message),
    });
  }

  async sweep(): Promise<Sweep | null> {
    const result = await this.list.read();
    if ('refused' in result) {
      this.withoutSweep = result.refused;
      const why = result.refused.message.replace(/\.$/, '');
      this.warn(`the source does not list all districts (${why}); each known district is read to its end instead`);
    } else if (result.listing.total === 0) {
      this.isListEmpty = true;
      this.warn('the source lists no record without a district; each known district is read to its end instead');
    } else this.swept = result;
    this.resumable = this.list.keepLanded(this.swept?.listing ?? null);
    // Whoever resumes by it meets its failure.
    this.resumable.catch(() => undefined);
    return this.swept;
  }

  /** The districts to ask for: listed ones, also by a list that was given up, those of the snapshot before, and the reference's where its ids are of the same kind. */
  districtsToRead(listed: ReadonlySet<number>): number[] {
    const { knownBefore, reference } = this.question;
    const sameKind = this.swept === null || reference.some((dapil) => listed.has(dapil));
    const named = new Set([...listed, ...this.list.met, ...knownBefore]);
    const others = sameKind ? reference.filter((dapil) => !named.has(dapil)) : [];
    if (this.swept !== null) this.spare = new SpareDistricts(others);
    return orderReading(
      [...new Set([...named, ...others])],
      (dapil) => this.swept?.listing.isClosed(dapil) === true,
      (dapil) => this.walks.isAhead(dapil),
    );
  }

  /**
   * What is wrong with the whole, once all districts were read.
   *
   * @param districts What was found of each of them.
   * @throws Why there is no list, where the districts do not make up for it.
   */
  judgeWhole(districts: readonly Verdict[]): Verdict[] {
    const { findings, swept, withoutSweep } = this;
    const isAllProved = districts.every(({ complete }) => complete);
    const isNothing = districts.every(({ received }) => received === 0);
    // A source that lists nothing on principle may still fail at a district; one that failed at its list has failed.
    if (withoutSweep !== null && (isRefusal(withoutSweep) ? isAllProved && isNothing : !isAllProved || isNothing))
      throw withoutSweep;
    for (const warning of findings.warnings(swept)) this.warn(warning);
    return findings.doubts(swept).map((doubt) => this.verdict({ ...doubt, proof: 'none' }));
  }

  /** Hands on the sweep's records that name no district; to be called last, for where a district brought them too, they are its own. */
  async deliverStrays(): Promise<Verdict[]> {
    const strays = this.swept?.strays ?? [];
    if (strays.length === 0) return [];
    const received = strays.reduce((sum, page) => sum + page.length, 0);
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

  /** Reads a district until it is proved, or named incomplete. */
  async readAndDeliver(dapil: number): Promise<Verdict> {
    try {
      return await this.readUntilJudged(dapil);
    } catch (error) {
      const verdict = this.incomplete(dapil, error);
      const isOpen = !this.walks.hasGiven(dapil) && this.spare.mayBeUnknown(dapil, error);
      return isOpen ? verdict : this.report(verdict);
    }
  }

  /** The verdict that was left open on a spare district, once it is known whether the list is whole. */
  private settleSpare(verdict: Verdict, isListWhole: boolean): Verdict {
    const why = this.spare.whyOf(verdict.dapil!);
    if (why === null) return verdict;
    if (!isListWhole || !this.spare.areUnknown) return this.report(verdict);
    this.findings.noteUnanswered(verdict.dapil!, why);
    return this.report({ ...verdict, proof: 'sweep', complete: true, reason: null });
  }

  /**
   * Without a list that is whole nothing but its own empty pages says that a district has no records, nor that the list has none; and
   * those may have been a slip of some moments: they are asked for again, and once more, when all others were read. So is a district of
   * which another dataset has records.
   *
   * @param known Districts of which any dataset has records.
   */
  async confirmEmpty(found: readonly Verdict[], known: ReadonlySet<number>): Promise<Verdict[]> {
    const isWhole = this.swept !== null && !this.findings.isShort(this.swept);
    const read = found.map((verdict) => this.settleSpare(verdict, isWhole));
    const isSaidOnce = ({ dapil, complete, received, listed }: Verdict): boolean =>
      complete && received === 0 && listed === null && (!isWhole || known.has(dapil!));
    for (const { dapil, complete, received } of read)
      if (complete && received === 0 && known.has(dapil!)) this.findings.noteEmptyHere(dapil!);
    const list = this.isListEmpty ? [this.verdict({ dapil: null, proof: 'none' })] : [];
    let doubtful = [...list, ...read.filter(isSaidOnce)];
    if (doubtful.length === 0) return [...read];
    for (const [turn, pause] of pausesBeforeLateAsking.entries()) {
      await this.question.clock.sleep(pause, this.question.signal);
      doubtful = await settleAll(doubtful.map((verdict) => this.confirm(verdict, turn)));
    }
    // The list's own verdict says nothing where it stays empty.
    return [...read.filter((verdict) => !isSaidOnce(verdict)), ...doubtful].filter(
      ({ dapil, complete }) => dapil !== null || !complete,
    );
  }

  private async confirm(verdict: Verdict, turn: number): Promise<Verdict> {
    try {
      if (!verdict.complete || (await this.walks.isStillEmpty(verdict.dapil, turn))) return verdict;
    } catch (error) {
      return this.incomplete(verdict.dapil, error);
    }
    if (verdict.dapil !== null) this.findings.noteNotEmpty(verdict.dapil);
    const reason = 'it had no records at first and has some now; the source is not steady, so run the sync again';
    return { ...verdict, proof: 'none', complete: false, reason };
  }

  /** The verdict that a failure of a district's own becomes; every other one is thrown. */
  private incomplete(dapil: number | null, error: unknown): Verdict {
    this.question.signal.throwIfAborted();
    if (!concernsOneDistrict(error)) throw error;
    const listed = dapil === null ? null : (this.listedFor(dapil)?.distinct ?? null);
    return this.verdict({ dapil, proof: 'none', listed, reason: `${error.message} ${error.next}`.trim() });
  }

  private async readUntilJudged(dapil: number): Promise<Verdict> {
    const { swept, resumable } = this;
    const listed = this.listedFor(dapil);
    const earlier: (WalkFigures | null)[] = [];
    /** Longest page of the reading before, where that rests on where its pages begin; then the next reading's begin elsewhere. */
    let longest: number | null = null;
    for (let readings = firstReading; ; readings += 1) {
      const read = earlier.flatMap((before) =>
        before === null ? [] : { ...before, said: 'an earlier reading brought' },
      );
      const shown = [...this.list.shownOf(dapil), ...read];
      const isSpare = this.spare.has(dapil);
      const district: DistrictQuestion = { dapil, listed, shown, swept, resumable, isSpare, habits: this.list.habits };
      const walk = await this.readOnce(district, readings, longest);
      if (walk === null) {
        // What it would have shown of pages, the list has shown where there is one.
        longest = this.list.habits.longest || this.question.pageSize;
        earlier.push(null);
        continue;
      }
      const { pages, ...compared } = walk;
      const judgement = judgeWalk(compared, listed, earlier, {
        sweepOverlaps: swept?.listing.overlaps === true,
      });
      if (judgement.kind === 'complete') return this.accept(district, walk, readings, judgement.warning);
      longest = walk.inOnePiece ? null : Math.max(0, ...pages.map(({ length }) => length));
      for (const page of pages) page.release();
      if (judgement.kind === 'incomplete')
        return this.report(
          this.verdict({ ...figuresOf(district, walk, readings), proof: 'none', reason: judgement.reason }),
        );
      earlier.push(compared);
    }
  }

  /** One reading of a district; null where it began anew, which may have been a slip of the moment. */
  private async readOnce(district: DistrictQuestion, reading: number, longest: number | null): Promise<Walk | null> {
    let walk: Walk;
    try {
      walk =
        reading === firstReading
          ? await this.walks.first(district)
          : await this.walks.again(district, reading, longest);
    } catch (error) {
      if (error instanceof RepeatedPageError && reading < maxReadings) return null;
      throw error;
    }
    if (walk.refusal !== null && !this.isAnswer(district.dapil, walk.refusal)) throw walk.refusal;
    return walk;
  }

  /** Hands on what a complete walk brought. */
  private async accept(
    district: DistrictQuestion,
    walk: Walk,
    readings: number,
    warning: string | null,
  ): Promise<Verdict> {
    const { dapil, listed, swept } = district;
    await this.walks.requireEnd(district, walk);
    if (warning !== null) this.warn(`district ${dapil}: ${warning}`);
    this.findings.noteComplete(dapil, walk, listed, swept);
    const verdict = this.verdict({ ...figuresOf(district, walk, readings), proof: walk.end });
    await this.deliver(verdict, walk.pages);
    // As many as the ledger counts: also what came twice, or names no district.
    return this.report(
      verdict,
      walk.pages.reduce((sum, page) => sum + page.length, 0),
    );
  }

  /**
   * Whether a refusal says that a district has no records, or no more: "not found" does, and so does any refusal of a district that only
   * the law names, where the source lists all that it has.
   */
  private isAnswer(dapil: number, { status }: SourceStatusError): boolean {
    const { wanted, knownBefore } = this.question;
    if (nothingThere.has(status)) return true;
    return wanted === null && this.swept !== null && this.listedFor(dapil) === null && !knownBefore.includes(dapil);
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

  private verdict(parts: VerdictParts): Verdict {
    return makeVerdict(this.pipeline.table, this.question.clock.now(), parts);
  }

  private report(verdict: Verdict, records = verdict.received): Verdict {
    this.question.report({ kind: 'district', dataset: this.pipeline.table, records, verdict });
    return verdict;
  }

  private warn(message: string): void {
    this.question.report({ kind: 'warning', message: `${this.pipeline.table}: ${message}.` });
  }
}

/** What a verdict says of a walk. */
function figuresOf({ dapil, listed }: DistrictQuestion, { distinct, pages, at }: Walk, readings: number) {
  return { dapil, listed: listed?.distinct ?? null, received: distinct, pages: pages.length, at, readings };
}
