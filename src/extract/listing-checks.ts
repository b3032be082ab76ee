/** Compares the partitions of a dataset with its full listing: warnings, and reasons to doubt that the listing is complete. */

import { comparePartitions } from '../project/partition-list.ts';
import { formatNumber } from '../runtime/text.ts';
import type { FullListing } from './full-listing.ts';
import type { ProvedPass } from './prove.ts';

const maxNamed = 10;

/** Partitions and records that a dataset should have. */
export interface Expectations {
  /** True if only some partitions are read. */
  readonly isPartial: boolean;
  /** True if the user named them. */
  readonly areNamed: boolean;
  /** Partitions with records in the previous snapshot. */
  readonly previous: readonly string[];
  /** Declared partitions. They are requested if the full listing contains some of them, or if there is no listing. */
  readonly reference: readonly string[];
  /** Records in the previous snapshot, or as declared; 0 if unknown. Fewer cause a warning. */
  readonly records: number;
}

export interface Doubt {
  readonly partition: string | null;
  readonly reason: string;
}

export class ListingChecks {
  /** True if records of a partition are missing in the full listing. Then it proves nothing. */
  isListingShort = false;
  private readonly expected: Expectations;
  private readonly totals = new Map<string, number>();
  private readonly unlisted: string[] = [];
  private readonly empty: string[] = [];
  /** Partitions for which the source returns an error instead of records, with the error. */
  private readonly refused = new Map<string, string>();
  /** Those of them whose error may hide records. */
  private readonly failing: string[] = [];
  private readonly reportingMore = new Map<string, number>();
  private readonly received = new Map<string, number>();
  private readonly full: string[] = [];
  private listingReported = 0;
  /** Set if a dataset without partitions has another number of records than its source reports. */
  private contradiction: Doubt | null = null;
  private readonly differing: string[] = [];
  private readonly shortfalls: string[] = [];

  constructor(expected: Expectations) {
    this.expected = expected;
  }

  noteReported(reported: number): void {
    this.listingReported = reported;
  }

  noteListing(listing: FullListing, isSameKind: boolean): void {
    const { records, previous } = this.expected;
    const who = previous.length > 0 ? 'the previous snapshot has' : 'the reference list has';
    if (previous.length === 0 && !isSameKind)
      this.shortfalls.push(
        'only the full listing shows which partitions exist, so rekap cannot detect a partition that is missing there',
      );
    else if (listing.total < records)
      this.shortfalls.push(
        `the full listing has ${formatNumber(listing.total)} records, but ${who} ${formatNumber(records)}`,
      );
  }

  noteUnpartitioned(
    { digest: { total }, reported, countsAll, atLeast, totals }: ProvedPass,
    ignores: readonly string[],
  ): void {
    const { records } = this.expected;
    if (total < records)
      this.shortfalls.push(`the list has ${formatNumber(total)} records, but ${formatNumber(records)} are expected`);
    const larger = [...totals].find(([at, count]) => count > total && !ignores.includes(at));
    const reason =
      reported > total || (countsAll && reported < total)
        ? moreReported(reported, total)
        : atLeast >= total && atLeast > 0
          ? `the source reports at least ${formatNumber(atLeast)} records ("gte"), and not more than ${formatNumber(total)} were received, so it may show only a part of the list`
          : larger === undefined
            ? null
            : `${larger[0]} is ${formatNumber(larger[1])}, but only ${formatNumber(total)} records were received. If it is their total, declare it as reportedCount; otherwise, add it to ignores in the paging`;
    if (reason !== null) this.contradiction = { partition: null, reason };
  }

  noteProved(partition: string, pass: ProvedPass, listing: FullListing | null): void {
    const { digest, refusal, reported, isFull } = pass;
    const { total } = digest;
    const listed = listing?.of(partition).total ?? 0;
    if (listing !== null && total > listed) this.isListingShort = true;
    if (total > 0) {
      this.totals.set(partition, total);
      if (listing !== null && listed === 0) this.unlisted.push(partition);
    } else if (refusal !== null) this.refused.set(partition, `status ${refusal.status}`);
    else this.empty.push(partition);
    if (isFull && listing === null) this.full.push(partition);
    // The first reading of a partition that is read again may have received less.
    this.reportingMore.delete(partition);
    // A count that equals that of the listing doesn't count the partition.
    if (reported > pass.total && reported !== this.listingReported) this.reportingMore.set(partition, reported);
    this.received.set(partition, pass.total);
    if (listing !== null && total === listed && digest.content !== listing.of(partition).content)
      this.differing.push(partition);
  }

  noteFailing(partition: string, why: string): void {
    this.refused.set(partition, why);
    this.failing.push(partition);
  }

  warnings(listing: FullListing | null, seenAnywhere: ReadonlySet<string>): string[] {
    const [firstRefused] = this.refused.values();
    return [
      ...this.shortfalls,
      ...this.warningOfWindow(listing),
      ...name(this.full, 'the source returned exactly one full page and nothing after it for partitions'),
      ...name(this.unlisted, 'partitions with records are missing in the full listing'),
      ...name(
        this.differing,
        'the full listing has different values for partitions, so rekap publishes the values of their partition listings',
      ),
      ...this.byOrigin(this.empty, 'has no records for partitions', seenAnywhere),
      ...this.byOrigin([...this.refused.keys()], `returns an error (${firstRefused}) for partitions`, seenAnywhere),
      ...(this.expected.isPartial && this.commonCount(listing) !== null
        ? name([...this.reportingMore.keys()], 'every response reports more records than were received, in partitions')
        : []),
    ];
  }

  /**
   * Returns doubts about a source that reports more records than any pass received. Some sources report the records of the response, others
   * all that match, which is reached after the last page.
   */
  contradictions(listing: FullListing | null): Doubt[] {
    const received = [...this.received.values()].reduce((sum, records) => sum + records, 0);
    const largest = Math.max(listing?.total ?? 0, received);
    const common = this.commonCount(listing);
    const reported = !this.expected.isPartial ? (common ?? this.listingReported) : 0;
    const parts = common === null ? [...this.reportingMore] : [];
    return [
      ...(this.contradiction === null ? [] : [this.contradiction]),
      ...(reported > largest ? [{ partition: null, reason: moreReported(reported, largest) }] : []),
      ...parts.map(([partition, count]) => ({ partition, reason: moreReported(count, this.received.get(partition)!) })),
    ];
  }

  /**
   * Returns the count that all partitions report; null if they differ. Without a listing, such a count is that of the whole list if it is
   * large enough.
   */
  private commonCount(listing: FullListing | null): number | null {
    const [common = 0, ...others] = new Set(this.reportingMore.values());
    const isOfAll = this.reportingMore.size > 0 && this.reportingMore.size === this.totals.size;
    const isLarge = 2 * common >= this.expected.records;
    return listing === null && isOfAll && isLarge && others.length === 0 ? common : null;
  }

  /** Groups partitions without records by why they were requested, so that an expected one isn't lost among optional ones. */
  private byOrigin(partitions: readonly string[], what: string, seenAnywhere: ReadonlySet<string>): string[] {
    const { areNamed, previous } = this.expected;
    const originOf = (partition: string): string => {
      if (areNamed) return 'you requested';
      if (seenAnywhere.has(partition)) return 'another dataset has';
      if (previous.includes(partition)) return 'the previous snapshot has';
      return 'the reference list contains (this can be correct)';
    };
    return [...new Set(partitions.map(originOf))].toSorted().flatMap((origin) =>
      name(
        partitions.filter((partition) => originOf(partition) === origin),
        `the source ${what} that ${origin}`,
      ),
    );
  }

  /** Warns about partitions with as many records as the full listing: the source may cap every response. */
  private warningOfWindow(listing: FullListing | null): string[] {
    const total = listing?.total ?? 0;
    if (total < 2) return [];
    const full = [...this.totals].flatMap(([partition, records]) => (records === total ? [partition] : []));
    const what = `the source may limit every response to ${formatNumber(total)} records: the full listing has exactly this many, and so do partitions`;
    return name(full, what);
  }

  /** Returns doubts about an incomplete listing, which may hide partitions, unless the previous snapshot or the reference names them. */
  doubts(listing: FullListing | null): string[] {
    const { previous, reference } = this.expected;
    if (listing === null || !this.isListingShort) return [];
    const hasOtherList = previous.length > 0 || reference.some((partition) => listing.of(partition).total > 0);
    return [
      ...(hasOtherList ? [] : ['records are missing in the full listing, and no other list of partitions is known']),
      ...name(
        this.failing,
        'records are missing in the full listing, and the source fails for partitions that are not listed',
      ),
    ];
  }
}

function moreReported(count: number, received: number): string {
  const only = received < count ? 'only ' : '';
  return `the source reports ${formatNumber(count)} records, but ${only}${formatNumber(received)} were received`;
}

function name(partitions: readonly string[], what: string): string[] {
  if (partitions.length === 0) return [];
  const named = partitions.toSorted(comparePartitions).slice(0, maxNamed);
  const more = partitions.length > named.length ? ` and ${partitions.length - named.length} more` : '';
  return [`${what}: ${named.join(', ')}${more}`];
}
