/** What the districts of a dataset, once read, say of the list of all districts and of `count`: warnings, and reasons to doubt the whole. */

import type { SourceStatusError } from '../../errors.ts';
import { formatNumber } from '../../numbers.ts';
import { brokenClaims, type CountClaim } from './count-claims.ts';
import type { ExtractQuestion } from './extract-question.ts';
import type { Sweep } from './sweep.ts';
import type { Account } from './tally.ts';
import type { Walk } from './walk-district.ts';

/** What is wrong with the whole, or with one district, though its own pages were read to an end. */
export interface Doubt {
  /** Null for the list of all districts. */
  readonly dapil: number | null;
  readonly received: number;
  readonly reason: string;
}

/** At most so many districts are named in one warning. */
const mostNamed = 10;

export class Findings {
  private readonly question: ExtractQuestion;
  private readonly claims: CountClaim[] = [];
  /** A district had records that the sweep did not list. */
  private sweepIsShort = false;
  /** Districts with records that the sweep does not list at all. */
  private readonly unlisted: number[] = [];
  /** Whether a district that the list does not prove came one record at a time. */
  private isOneByOne = false;
  /** Districts of which the sweep lists the same records with other values. */
  private readonly otherwise: number[] = [];
  /** Districts asked for by name, or known from elsewhere, that the source has nothing of. */
  private readonly empty = new Set<number>();
  /** Those of them that another dataset has records of. */
  private readonly elsewhere = new Set<number>();
  /** Records of each district that has some. */
  private readonly totals = new Map<number, number>();
  /** Districts known from law alone that the source fails at, and what became of each. */
  private readonly unanswered = new Map<number, string>();
  /** Districts that the source refuses to answer for, by what it says. */
  private readonly refused = new Map<number, number[]>();

  constructor(question: ExtractQuestion) {
    this.question = question;
  }

  /** @param listed What the sweep listed of the district; null where it listed nothing or there was no sweep. */
  noteComplete(dapil: number, walk: Walk, listed: Account | null, swept: Sweep | null): void {
    const { wanted, reference } = this.question;
    if (walk.claim !== null) this.claims.push(walk.claim);
    if (listed === null ? walk.total > 0 : walk.distinct > listed.distinct) this.sweepIsShort = true;
    // One that was asked for alone, for the pages behind it to begin elsewhere, says nothing.
    const isCapped = walk.isCapped || this.question.pageSize === 1;
    if (listed?.set !== walk.set && walk.pages.length > 1 && isCapped && walk.pages.every(({ length }) => length === 1))
      this.isOneByOne = true;
    if (walk.total > 0) this.totals.set(dapil, walk.total);
    else {
      if (walk.refusal !== null) this.noteRefused(dapil, walk.refusal);
      else if (wanted !== null || reference.includes(dapil)) this.noteEmpty(dapil);
    }
    if (listed === null) {
      if (swept !== null && walk.total > 0) this.unlisted.push(dapil);
    } else if (listed.set === walk.set && listed.total === walk.total && listed.content !== walk.content)
      this.otherwise.push(dapil);
  }

  /** Notes that a district has no records which another dataset has. */
  noteEmptyHere(dapil: number): void {
    this.elsewhere.add(dapil);
    this.noteEmpty(dapil);
  }

  /** Notes that a district which is known has no records; one that is refused has been noted as such. */
  private noteEmpty(dapil: number): void {
    if (![...this.refused.values()].flat().includes(dapil)) this.empty.add(dapil);
  }

  /** Notes that the source fails at a district which its list does not name, and why. */
  noteUnanswered(dapil: number, why: string): void {
    this.unanswered.set(dapil, why.replace(/\.$/, ''));
  }

  /** Notes that it has some after all. */
  noteNotEmpty(dapil: number): void {
    this.empty.delete(dapil);
  }

  /** Whether the list of all districts may lack some, by what the districts read so far show. */
  isShort({ listing, endedBy }: Sweep): boolean {
    return this.sweepIsShort || listing.overlaps || endedBy !== null;
  }

  private noteRefused(dapil: number, { status }: SourceStatusError): void {
    this.refused.set(status, [...(this.refused.get(status) ?? []), dapil]);
  }

  warnings(swept: Sweep | null): string[] {
    return [
      ...this.warningsOfWindow(swept),
      ...(this.isOneByOne
        ? ['the source gives one record at a time, so that one which it passes over at every reading cannot be noticed']
        : []),
      ...(swept === null && this.totals.size > 1 && [...this.totals.values()].every((total) => total === 1)
        ? [
            'the source gives one record of each district and no list of all, so that nothing shows whether there are more',
          ]
        : []),
      ...name(this.unlisted, 'the list of all districts lacks districts that have records'),
      ...name(
        this.otherwise,
        'the list of all districts holds other values than the own pages of some, which are published',
      ),
      ...this.byOrigin([...this.empty], 'has no records of districts'),
      ...name(
        [...this.unanswered.keys()],
        'the source lists no record of districts that are known from law alone, and fails where it is asked for them',
      ).map((warning) => `${warning} (${this.unanswered.get(Math.min(...this.unanswered.keys()))!})`),
      ...[...this.refused].flatMap(([status, dapils]) =>
        this.byOrigin(dapils, `knows nothing (${status}) of districts`),
      ),
    ];
  }

  /** Districts that the source lacks, by why they were asked for: one that should be there is not to be lost among many that need not. */
  private byOrigin(dapils: readonly number[], what: string): string[] {
    const origins = [...new Set(dapils.map((dapil) => this.originOf(dapil)))].toSorted();
    return origins.flatMap((origin) =>
      name(
        dapils.filter((dapil) => this.originOf(dapil) === origin),
        `the source ${what} that ${origin}`,
      ),
    );
  }

  private originOf(dapil: number): string {
    const { wanted, knownBefore } = this.question;
    if (wanted !== null) return 'were asked for';
    if (this.elsewhere.has(dapil)) return 'another dataset has';
    if (knownBefore.includes(dapil)) return 'the snapshot before had';
    return 'are known from law alone, and that an election of another year need not have';
  }

  /**
   * Districts that end after as many records as the list of all districts did: perhaps the source gives no question more than that. Each
   * then looks whole, and so does a list that the records of its first district fill.
   */
  private warningsOfWindow(swept: Sweep | null): string[] {
    const total = swept?.listing.total ?? 0;
    if (total < 2) return [];
    const dapils = [...this.totals].flatMap(([dapil, records]) => (records === total ? [dapil] : []));
    return name(
      dapils,
      `the source may give no question more than ${formatNumber(total)} records, for the list of all districts has so many, and so have districts`,
    );
  }

  doubts(swept: Sweep | null): Doubt[] {
    return [...this.doubtOfDistrictList(swept), ...this.doubtsOfClaims(swept)];
  }

  /**
   * A sweep that is short, ends with an error status or whose pages overlap may hide whole districts. Those of the snapshot before or of
   * the reference stand in for it; where there are neither, nothing does.
   */
  private doubtOfDistrictList(swept: Sweep | null): Doubt[] {
    const { knownBefore, reference, wanted } = this.question;
    if (swept === null || wanted !== null || knownBefore.length > 0) return [];
    const { listing, endedBy } = swept;
    if (!this.isShort(swept)) return [];
    if (reference.some((dapil) => listing.accountOf(dapil) !== null)) return [];
    const what = endedBy === null ? 'is short or its pages overlap' : `ends with status ${endedBy}`;
    const reason = `the unfiltered list ${what}, and nothing else says which districts there are`;
    return [{ dapil: null, received: 0, reason }];
  }

  private doubtsOfClaims(swept: Sweep | null): Doubt[] {
    const claims = [swept?.claim ?? null, ...this.claims].filter((claim) => claim !== null);
    return brokenClaims(claims).map(({ dapil, claimed, received }) => ({
      dapil,
      received,
      reason: `its "count" says ${claimed} records, its pages brought ${received}; the source does not give all that it has`,
    }));
  }
}

/** What is said of some districts, with the first of them named; nothing where there are none. */
function name(dapils: readonly number[], what: string): string[] {
  if (dapils.length === 0) return [];
  const named = dapils.toSorted((a, b) => a - b).slice(0, mostNamed);
  return [
    `${what}: ${named.join(', ')}${dapils.length > named.length ? ` and ${dapils.length - named.length} more` : ''}`,
  ];
}
