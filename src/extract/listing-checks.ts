/** What the partitions of a dataset, once read, say of the source: warnings, and reasons to doubt the full listing. */

import { comparePartitions } from '../project/declaration.ts';
import { formatNumber } from '../runtime/text.ts';
import type { FullListing } from './full-listing.ts';
import type { Known } from './extract-options.ts';
import type { OwnReading } from './partition.ts';

/** At most so many partitions are named in one warning. */
const mostNamed = 10;

/** A reason to doubt that a partition is complete, or the whole dataset. */
export interface Doubt {
  readonly partition: string | null;
  readonly reason: string;
}

export class ListingChecks {
  /** Whether a partition had records that the full listing lacks: then its word ends nothing. */
  isListingShort = false;
  private readonly table: string;
  private readonly known: Known;
  /** Records of each partition that has some. */
  private readonly totals = new Map<string, number>();
  private readonly unlisted: string[] = [];
  private readonly empty: string[] = [];
  /** Partitions for which the source has no records but an error, and which one. */
  private readonly unanswered = new Map<string, string>();
  /** Those of them for which the error may hide records. */
  private readonly failing: string[] = [];
  /** What is reported of partitions whose every response reports more records than came. */
  private readonly reportingMore = new Map<string, number>();
  /** Records that came for each partition, also those that name no partition. */
  private readonly received = new Map<string, number>();
  /** Partitions whose one page was full, where no full listing stands beside it. */
  private readonly full: string[] = [];
  /** What the full listing reports; 0 where there is none. */
  private listingReported = 0;
  /** Partitions of which the full listing has other values. */
  private readonly otherwise: string[] = [];
  private readonly expectations: string[] = [];

  constructor(table: string, known: Known) {
    this.table = table;
    this.known = known;
  }

  /** @param reported The smallest "count" of its responses. */
  noteReported(reported: number): void {
    this.listingReported = reported;
  }

  /** @param isSameKind Whether the ids of its partitions are those of the reference. */
  noteListing(listing: FullListing, isSameKind: boolean): void {
    const { expected, knownBefore } = this.known;
    const most = expected[this.table] ?? 0;
    if (knownBefore.length === 0 && !isSameKind) {
      this.expectations.push(
        'only the full listing names the partitions, so rekap cannot detect a partition that is missing there',
      );
    } else if (listing.total < most) {
      const who = knownBefore.length > 0 ? 'the previous snapshot has' : 'the reference list has';
      this.expectations.push(
        `the full listing has ${formatNumber(listing.total)} records, but ${who} ${formatNumber(most)}`,
      );
    }
  }

  /** Notes what a list without partitions brought. */
  noteWhole({ digest: { total }, reported }: OwnReading): void {
    const { expected } = this.known;
    const most = expected[this.table] ?? 0;
    if (total < most)
      this.expectations.push(`the list has ${formatNumber(total)} records, but ${formatNumber(most)} are expected`);
    if (reported > total)
      this.expectations.push(
        `the source reports ${formatNumber(reported)} records, but its list has ${formatNumber(total)} in two passes`,
      );
  }

  /** @param listing The full listing; null where the source gives none. */
  noteProved(partition: string, reading: OwnReading, listing: FullListing | null): void {
    const { digest, refusal, reported, isFull } = reading;
    const { total } = digest;
    const listed = listing?.of(partition).total ?? 0;
    if (listing !== null && total > listed) this.isListingShort = true;
    if (total > 0) {
      this.totals.set(partition, total);
      if (listing !== null && listed === 0) this.unlisted.push(partition);
    } else if (refusal !== null) this.unanswered.set(partition, `status ${refusal.status}`);
    else this.empty.push(partition);
    if (isFull && listing === null) this.full.push(partition);
    // A count that is the same for the partition and for the listing does not count what was asked for.
    if (reported > reading.total && reported !== this.listingReported) this.reportingMore.set(partition, reported);
    this.received.set(partition, reading.total);
    if (listing !== null && total === listed && digest.content !== listing.of(partition).content)
      this.otherwise.push(partition);
  }

  /** Notes that the source fails at a partition which it need not know. */
  noteFailing(partition: string, why: string): void {
    this.unanswered.set(partition, why);
    this.failing.push(partition);
  }

  /** @param known Partitions that any dataset has. */
  warnings(listing: FullListing | null, known: ReadonlySet<string>): string[] {
    const [firstUnanswered] = this.unanswered.values();
    return [
      ...this.expectations,
      ...this.warningOfWindow(listing),
      ...name(this.full, 'the source returned exactly one full page and nothing after it for partitions'),
      ...name(this.unlisted, 'partitions with records are missing in the full listing'),
      ...name(
        this.otherwise,
        'the full listing has different values for partitions, so rekap publishes the values of their partition listings',
      ),
      ...this.byOrigin(this.empty, 'has no records for partitions', known),
      ...this.byOrigin([...this.unanswered.keys()], `returns an error (${firstUnanswered}) for partitions`, known),
      ...(this.known.wanted !== null && this.commonCount(listing) !== null
        ? name([...this.reportingMore.keys()], 'every response reports more records than were received, in partitions')
        : []),
    ];
  }

  /**
   * Where the source contradicts itself: it reports more records than came in any reading. Some sources report the records of the response, and
   * some all that match, which is right once every page has been read.
   */
  contradictions(listing: FullListing | null): Doubt[] {
    const received = [...this.received.values()].reduce((sum, records) => sum + records, 0);
    const came = Math.max(listing?.total ?? 0, received);
    const common = this.commonCount(listing);
    const whole = this.known.wanted === null ? (common ?? this.listingReported) : 0;
    const parts = common === null ? [...this.reportingMore] : [];
    const say = (count: number, records: number): string =>
      `the source reports ${formatNumber(count)} records, but only ${formatNumber(records)} were received`;
    return [
      ...(whole > came ? [{ partition: null, reason: say(whole, came) }] : []),
      ...parts.map(([partition, count]) => ({ partition, reason: say(count, this.received.get(partition)!) })),
    ];
  }

  /**
   * Without a listing, one and the same count for every partition is that of the whole list, and says nothing of a part of it. It must be as
   * large as a whole list may be.
   */
  private commonCount(listing: FullListing | null): number | null {
    const [common = 0, ...others] = new Set(this.reportingMore.values());
    const isOfAll = this.reportingMore.size > 0 && this.reportingMore.size === this.totals.size;
    const isLarge = 2 * common >= (this.known.expected[this.table] ?? 0);
    return listing === null && isOfAll && isLarge && others.length === 0 ? common : null;
  }

  /** Partitions that the source lacks, by why they were asked for: one that should be there is not to be lost among many that need not. */
  private byOrigin(partitions: readonly string[], what: string, known: ReadonlySet<string>): string[] {
    const { wanted, knownBefore } = this.known;
    const originOf = (partition: string): string => {
      if (wanted !== null) return 'you requested';
      if (known.has(partition)) return 'another dataset has';
      if (knownBefore.includes(partition)) return 'the previous snapshot has';
      return 'the reference list names (the source need not have them)';
    };
    return [...new Set(partitions.map(originOf))].toSorted().flatMap((origin) =>
      name(
        partitions.filter((partition) => originOf(partition) === origin),
        `the source ${what} that ${origin}`,
      ),
    );
  }

  /** A partition with as many records as the full listing: perhaps the source answers no question with more. */
  private warningOfWindow(listing: FullListing | null): string[] {
    const total = listing?.total ?? 0;
    if (total < 2) return [];
    const full = [...this.totals].flatMap(([partition, records]) => (records === total ? [partition] : []));
    const what = `the source may limit every response to ${formatNumber(total)} records: the full listing has exactly this many, and so do partitions`;
    return name(full, what);
  }

  /** A listing that is short may hide whole partitions. Those of the snapshot before or of the reference make up for it, if there are any. */
  doubts(listing: FullListing | null): string[] {
    const { knownBefore, reference } = this.known;
    if (listing === null || !this.isListingShort) return [];
    const isOthersKnown = knownBefore.length > 0 || reference.some((partition) => listing.of(partition).total > 0);
    return [
      ...(isOthersKnown ? [] : ['records are missing in the full listing, and no other list of partitions is known']),
      ...name(
        this.failing,
        'records are missing in the full listing, and the source fails for partitions that are not listed',
      ),
    ];
  }
}

/** What is said of some partitions, with the first of them named; nothing where there are none. */
function name(partitions: readonly string[], what: string): string[] {
  if (partitions.length === 0) return [];
  const named = partitions.toSorted(comparePartitions).slice(0, mostNamed);
  const more = partitions.length > named.length ? ` and ${partitions.length - named.length} more` : '';
  return [`${what}: ${named.join(', ')}${more}`];
}
