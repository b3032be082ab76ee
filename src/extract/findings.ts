/** What the districts of a dataset, once read, say of the source: warnings, and reasons to doubt the full listing. */

import { formatNumber } from '../runtime/text.ts';
import type { FullListing } from './full-listing.ts';
import type { Known } from './question.ts';
import type { OwnReading } from './district.ts';

/** At most so many districts are named in one warning. */
const mostNamed = 10;

/** A reason to doubt that a district is complete, or the whole dataset. */
export interface Doubt {
  readonly district: number | null;
  readonly reason: string;
}

export class Findings {
  /** Whether a district had records that the full listing lacks: then its word ends nothing. */
  isListingShort = false;
  private readonly table: string;
  private readonly known: Known;
  /** Records of each district that has some. */
  private readonly totals = new Map<number, number>();
  private readonly unlisted: number[] = [];
  private readonly empty: number[] = [];
  /** Districts for which the source has no records but an error, and which one. */
  private readonly unanswered = new Map<number, string>();
  /** Those of them for which the error may hide records. */
  private readonly failing: number[] = [];
  /** The "count" of districts whose every response counts more records than came. */
  private readonly reportingMore = new Map<number, number>();
  /** Records that came for each district, also those that name no district. */
  private readonly received = new Map<number, number>();
  /** Districts whose one page was full, where no full listing stands beside it. */
  private readonly full: number[] = [];
  /** What the "count" of the full listing says; 0 where there is none. */
  private listingReported = 0;
  /** Districts of which the full listing has other values. */
  private readonly otherwise: number[] = [];
  private readonly expectations: string[] = [];

  constructor(table: string, known: Known) {
    this.table = table;
    this.known = known;
  }

  /** @param reported The smallest "count" of its responses. */
  noteReported(reported: number): void {
    this.listingReported = reported;
  }

  /** @param isSameKind Whether the ids of its districts are those of the reference. */
  noteListing(listing: FullListing, isSameKind: boolean): void {
    const { expected, knownBefore } = this.known;
    const most = expected[this.table] ?? 0;
    if (knownBefore.length === 0 && !isSameKind) {
      this.expectations.push(
        'only the full listing names the districts, so rekap cannot detect a district that is missing there',
      );
    } else if (listing.total < most) {
      const who = knownBefore.length > 0 ? 'the previous snapshot has' : 'the reference list has';
      this.expectations.push(
        `the full listing has ${formatNumber(listing.total)} records, but ${who} ${formatNumber(most)}`,
      );
    }
  }

  /** @param listing The full listing; null where the source gives none. */
  noteProved(district: number, reading: OwnReading, listing: FullListing | null): void {
    const { account, refusal, reported, isFull } = reading;
    const { total } = account;
    const listed = listing?.of(district).total ?? 0;
    if (listing !== null && total > listed) this.isListingShort = true;
    if (total > 0) {
      this.totals.set(district, total);
      if (listing !== null && listed === 0) this.unlisted.push(district);
    } else if (refusal !== null) this.unanswered.set(district, `status ${refusal.status}`);
    else this.empty.push(district);
    if (isFull && listing === null) this.full.push(district);
    // A count that is the same for the district and for the listing does not count what was asked for.
    if (reported > reading.total && reported !== this.listingReported) this.reportingMore.set(district, reported);
    this.received.set(district, reading.total);
    if (listing !== null && total === listed && account.content !== listing.of(district).content)
      this.otherwise.push(district);
  }

  /** Notes that the source fails at a district which it need not know. */
  noteFailing(district: number, why: string): void {
    this.unanswered.set(district, why);
    this.failing.push(district);
  }

  /** @param known Districts that any dataset has. */
  warnings(listing: FullListing | null, known: ReadonlySet<number>): string[] {
    const [firstUnanswered] = this.unanswered.values();
    return [
      ...this.expectations,
      ...this.warningOfWindow(listing),
      ...name(this.full, 'the source returned exactly one full page and nothing after it for districts'),
      ...name(this.unlisted, 'districts with records are missing in the full listing'),
      ...name(
        this.otherwise,
        'the full listing has different values for districts, so rekap publishes the values of their district listings',
      ),
      ...this.byOrigin(this.empty, 'has no records for districts', known),
      ...this.byOrigin([...this.unanswered.keys()], `returns an error (${firstUnanswered}) for districts`, known),
      ...(this.known.wanted !== null && this.commonCount(listing) !== null
        ? name(
            [...this.reportingMore.keys()],
            'the "count" of every response is larger than the number of records received, in districts',
          )
        : []),
    ];
  }

  /**
   * Where the source contradicts its own "count": it reports more records than came in any reading. service.md says that `count` is the
   * number of records in the response; a count of all that match is right once every page has been read.
   */
  contradictions(listing: FullListing | null): Doubt[] {
    const received = [...this.received.values()].reduce((sum, records) => sum + records, 0);
    const came = Math.max(listing?.total ?? 0, received);
    const common = this.commonCount(listing);
    const whole = this.known.wanted === null ? (common ?? this.listingReported) : 0;
    const parts = common === null ? [...this.reportingMore] : [];
    const say = (count: number, records: number): string =>
      `the "count" of the source is ${formatNumber(count)}, but only ${formatNumber(records)} records were received`;
    return [
      ...(whole > came ? [{ district: null, reason: say(whole, came) }] : []),
      ...parts.map(([district, count]) => ({ district, reason: say(count, this.received.get(district)!) })),
    ];
  }

  /**
   * Without a listing, one and the same count for every district is that of the whole list, and says nothing of a part of it. It must be as
   * large as a whole list may be.
   */
  private commonCount(listing: FullListing | null): number | null {
    const [common = 0, ...others] = new Set(this.reportingMore.values());
    const isOfAll = this.reportingMore.size > 0 && this.reportingMore.size === this.totals.size;
    const isLarge = 2 * common >= (this.known.expected[this.table] ?? 0);
    return listing === null && isOfAll && isLarge && others.length === 0 ? common : null;
  }

  /** Districts that the source lacks, by why they were asked for: one that should be there is not to be lost among many that need not. */
  private byOrigin(districts: readonly number[], what: string, known: ReadonlySet<number>): string[] {
    const { wanted, knownBefore } = this.known;
    const originOf = (district: number): string => {
      if (wanted !== null) return 'you requested';
      if (known.has(district)) return 'another dataset has';
      if (knownBefore.includes(district)) return 'the previous snapshot has';
      return 'the reference list names (another election may not have them)';
    };
    return [...new Set(districts.map(originOf))].toSorted().flatMap((origin) =>
      name(
        districts.filter((district) => originOf(district) === origin),
        `the source ${what} that ${origin}`,
      ),
    );
  }

  /** A district with as many records as the full listing: perhaps the source answers no question with more. */
  private warningOfWindow(listing: FullListing | null): string[] {
    const total = listing?.total ?? 0;
    if (total < 2) return [];
    const full = [...this.totals].flatMap(([district, records]) => (records === total ? [district] : []));
    const what = `the source may limit every response to ${formatNumber(total)} records: the full listing has exactly this many, and so do districts`;
    return name(full, what);
  }

  /** A listing that is short may hide whole districts. Those of the snapshot before or of the reference make up for it, if there are any. */
  doubts(listing: FullListing | null): string[] {
    const { knownBefore, reference } = this.known;
    if (listing === null || !this.isListingShort) return [];
    const isOthersKnown = knownBefore.length > 0 || reference.some((district) => listing.of(district).total > 0);
    return [
      ...(isOthersKnown ? [] : ['records are missing in the full listing, and no other list of districts is known']),
      ...name(
        this.failing,
        'records are missing in the full listing, and the source fails for districts that are not listed',
      ),
    ];
  }
}

/** What is said of some districts, with the first of them named; nothing where there are none. */
function name(districts: readonly number[], what: string): string[] {
  if (districts.length === 0) return [];
  const named = districts.toSorted((a, b) => a - b).slice(0, mostNamed);
  const more = districts.length > named.length ? ` and ${districts.length - named.length} more` : '';
  return [`${what}: ${named.join(', ')}${more}`];
}
