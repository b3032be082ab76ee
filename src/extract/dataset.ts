/** Keeps what is known of a dataset during its extraction: the full listing, its partitions, and their verdicts. */

import { isRekapError, type RekapError } from '../errors.ts';
import { type Doubt, type Expectations, ListingChecks } from './listing-checks.ts';
import { type FoundListing, type FullListing, noListing, readFullListing, SeenRecords } from './full-listing.ts';
import { findIgnoredFilters } from './ignored-filters.ts';
import type { PageHolder } from './page-holder.ts';
import { DatasetPages, mayList } from './pages.ts';
import type { PassResult, ProvedPass } from './prove.ts';
import type { ExtractOptions } from './extract-options.ts';
import type { AnyPipeline } from '../project/declaration.ts';
import { comparePartitions, namePartition } from '../project/partition-list.ts';
import { countOf } from '../runtime/text.ts';
import type { AcceptedPage, AcceptedReading, Scope, Verdict } from '../stages.ts';

/** Milliseconds before an empty partition is read again if no full listing confirms it: a source may be empty for moments. */
const emptyFor = 2000;

/** Returns a scope of partitions; null for other scopes. */
function partialOf(scope: Scope | undefined): Exclude<Scope, { readonly window: true }> | null {
  return scope === undefined || 'window' in scope ? null : scope;
}

const ifRight = 'if that is correct, add --accept-changes to the sync';

export interface Partition {
  readonly id: string | null;
  readonly seen: SeenRecords;
  /** Results of the passes that reached their end, starting with the part of the full listing. */
  readonly results: PassResult[];
  passes: number;
  /** True if the partition is read again after all others. */
  isAgain: boolean;
  /** True if only the reference list names the partition. */
  readonly isOptional: boolean;
}

export class DatasetExtraction {
  readonly pipeline: AnyPipeline;
  readonly options: ExtractOptions;
  readonly pages: DatasetPages;
  readonly findings: ListingChecks;
  private readonly expectations: Expectations;
  /** The partitions that are read; null for all, or if the dataset has none. */
  private readonly scope: Exclude<Scope, { readonly window: true }> | null;
  private readonly holder: PageHolder;
  private found: FoundListing = noListing;
  private readonly partitions = new Map<string | null, Partition>();
  /** Partitions without records, which are read again at the end. */
  private readonly empty: (string | null)[] = [];
  /** Readings that rely on the full listing, deferred until all partitions have confirmed it. */
  private readonly deferred = new Map<string | null, AcceptedReading>();
  /** Contents of partitions with records, without the values of the request. */
  private readonly contents = new Map<string, string>();
  /** Lists in which no page named a next one, although the paging says that pages do. */
  private unlinked = 0;
  /** Partitions with records in any dataset; null until all are read. */
  private seenAnywhere: ReadonlySet<string> | null = null;

  constructor(pipeline: AnyPipeline, options: ExtractOptions, holder: PageHolder, reference: readonly string[]) {
    const { expected, before } = options;
    const { table } = pipeline;
    this.pipeline = pipeline;
    this.options = options;
    this.holder = holder;
    this.pages = new DatasetPages(pipeline, options, holder);
    this.scope = partialOf(options.scopes.get(table));
    this.expectations = {
      isPartial: this.scope !== null,
      areNamed: this.scope !== null && 'only' in this.scope,
      reference,
      previous: before[table] ?? [],
      records: expected[table] ?? 0,
    };
    this.findings = new ListingChecks(this.expectations);
  }

  async readListing(): Promise<void> {
    if (this.pipeline.partition === undefined || this.scope !== null || !mayList(this.pipeline)) return;
    this.found = await readFullListing(this.pages, this.options, (message) => this.warn(message));
    if (this.listing !== null) this.findings.noteReported(this.found.reported);
  }

  /** True if the listing returned 403: it may be forbidden, or the key may be refused. */
  get isKeyInDoubt(): boolean {
    return this.found.refusal?.status === 403;
  }

  get listing(): FullListing | null {
    return this.found.listing;
  }

  get listedPartitions(): string[] {
    return this.found.passes.flatMap(({ partitions }) => partitions);
  }

  get seenPartitions(): string[] {
    const read = [...this.partitions.values()].flatMap(({ id, seen }) => (id === null || seen.size === 0 ? [] : [id]));
    return [...this.listedPartitions, ...read];
  }

  /**
   * Returns the partitions to read, longest first: the listed ones, those of the previous snapshot, and those of the reference if the source
   * uses the same ids.
   */
  partitionsToRead(listed: ReadonlySet<string>): (string | null)[] {
    if (this.pipeline.partition === undefined) return [null];
    const { listing, scope } = this;
    const { previous, reference } = this.expectations;
    if (scope !== null && 'only' in scope) return [...scope.only];
    const isSameKind = listing === null || reference.some((id) => listed.has(id));
    const all = new Set([...listed, ...previous, ...(isSameKind ? reference : [])]);
    if (scope !== null) for (const id of scope.except) all.delete(id);
    if (listing !== null) this.findings.noteListing(listing, isSameKind);
    // The last partition of the listing comes first, because only its own pages show its end, which takes longer.
    const size = (id: string): number => (id === listing?.last ? Number.MAX_VALUE : (listing?.of(id).total ?? 0));
    return [...all].toSorted((a, b) => size(b) - size(a) || comparePartitions(a, b));
  }

  /** Returns the partition to read. One that was read before is marked. */
  begin(id: string | null): Partition {
    const { listing, expectations } = this;
    const earlier = this.partitions.get(id);
    if (earlier !== undefined) {
      earlier.isAgain = true;
      return earlier;
    }
    const { previous } = expectations;
    const partition = {
      id,
      seen: new SeenRecords(this.found.passes, id),
      results: listing === null || id === null ? [] : [listing.resultOf(id)],
      passes: 0,
      isAgain: false,
      isOptional:
        this.scope === null &&
        listing !== null &&
        id !== null &&
        !previous.includes(id) &&
        !this.listedPartitions.includes(id),
    };
    this.partitions.set(id, partition);
    return partition;
  }

  deferEmpty(id: string | null): null {
    this.empty.push(id);
    return null;
  }

  accept(partition: Partition, proved: ProvedPass): AcceptedReading | null {
    const { id, passes: readings, isAgain } = partition;
    const { proof, grade, end, digest, accepted, pageSizes: page_sizes } = proved;
    const { total: received, content } = digest;
    if (received > 0 && id !== null && this.pages.requestColumns.length > 0) this.contents.set(id, proved.others);
    const isElsewhere = id !== null && this.seenAnywhere?.has(id) === true;
    if (received === 0 && this.listing === null && isElsewhere && !this.options.acceptChanges)
      return this.reportIncomplete(
        partition,
        `this dataset has no records of the partition, but another dataset does; ${ifRight}`,
      );
    if (grade === 'single' && this.pipeline.paging.by === 'next') this.unlinked += 1;
    const read_at = proved.at.toISOString();
    const counts = { received, pages: accepted.length, readings };
    const verdict = this.verdict({ partition: id, proof, grade, end, page_sizes, ...counts, read_at, content });
    if (id === null) this.findings.noteUnpartitioned(proved, this.pipeline.paging.ignores ?? []);
    else this.findings.noteProved(id, proved, this.listing);
    const reading = this.report(verdict, accepted, isAgain);
    if (proof === 'own end') {
      partition.seen.close();
      return reading;
    }
    this.deferred.set(id, reading);
    if (this.holder.isHalfFull) for (const page of reading.pages) page.release();
    return null;
  }

  /** Reports a partition that could not be read. If the source need not know it, an unavailable one is empty. */
  reject(partition: Partition, error: RekapError): AcceptedReading {
    const { id, isOptional, seen, passes: readings } = partition;
    const isUnavailable = isRekapError(error, 'source-status', 'source-unreachable');
    if (!isUnavailable || id === null || !isOptional || seen.size > 0 || this.findings.isListingShort)
      return this.reportIncomplete(partition, `${error.message} ${error.next}`.trim());
    this.findings.noteFailing(id, error.message.replace(/\.$/, ''));
    return this.report(this.verdict({ partition: id, ...this.proofOfListing, readings }), []);
  }

  /**
   * Returns the partitions to read again at the end: empty ones without confirmation and, if the listing turned out to be incomplete, all that
   * relied on it.
   */
  async partitionsToReadAgain(seenAnywhere: ReadonlySet<string>): Promise<(string | null)[]> {
    const { clock, signal } = this.options;
    this.seenAnywhere = seenAnywhere;
    if (this.empty.length > 0) await clock.sleep(emptyFor, signal);
    if (!this.findings.isListingShort) return this.empty;
    const again = [...this.deferred.keys()];
    for (const reading of this.deferred.values()) for (const page of reading.pages) page.release();
    this.deferred.clear();
    return [...this.empty, ...again];
  }

  /**
   * Returns the remaining readings: deferred ones, doubts about the dataset, and records without a partition. Checks again that the listing
   * hasn't grown.
   *
   * @throws The error of the listing if no partition has records.
   */
  async finish(): Promise<AcceptedReading[]> {
    const { findings, listing } = this;
    const { refusal } = this.found;
    if (refusal !== null && this.seenPartitions.length === 0) throw refusal;
    const { places, pager, names } = this.pages;
    for (const warning of [...findings.warnings(listing, this.seenAnywhere!), ...places.warnings()]) this.warn(warning);
    if (this.unlinked > 0)
      this.warn(
        `no page of ${countOf(this.unlinked, 'list')} named a next page, so the proof is only "single": nothing shows that the source would name one`,
      );
    const contradictions = [...findings.contradictions(listing), ...findIgnoredFilters(this.pipeline, this.contents)];
    const ofDataset = [
      ...(await this.doubtsOfListing()),
      ...findings.doubts(listing),
      ...[pager.unseen() ?? []].flat(),
      ...places.problems(),
    ];
    const doubts = ofDataset.map((reason): Doubt => ({ partition: null, reason }));
    for (const { partition, reason } of contradictions)
      if (!this.options.acceptChanges) doubts.push({ partition, reason: `${reason}; ${ifRight}` });
      else this.warn(partition === null ? reason : `${namePartition(partition, names.get(partition))}: ${reason}`);
    const doubtful = doubts.map((doubt) => ({
      verdict: this.verdict({ ...doubt, proof: 'none', complete: false }),
      pages: [],
    }));
    return [...this.deferred.values(), ...doubtful, ...this.acceptWithoutPartition()];
  }

  private async doubtsOfListing(): Promise<string[]> {
    const { listing, pipeline } = this;
    if (pipeline.partition === undefined || this.scope !== null) return [];
    if (await this.pages.isNothingAt(listing?.total ?? 0)) return [];
    return [
      listing === null
        ? 'the source returned no full listing at first, but returns one now'
        : `the full listing had ${listing.total} records when it was read, but has more now`,
    ];
  }

  /** Records without a partition come last, so that copies which belong to a partition count as duplicates. */
  private acceptWithoutPartition(): AcceptedReading[] {
    const pages = this.listing?.accepted ?? [];
    if (pages.length === 0) return [];
    const received = pages.reduce((sum, { count }) => sum + count, 0);
    const verdict = this.verdict({ partition: null, ...this.proofOfListing, received, pages: pages.length });
    return [{ verdict, pages }];
  }

  private get proofOfListing() {
    return { proof: 'full listing', grade: this.listing?.grade ?? null } as const;
  }

  private reportIncomplete({ id, passes: readings, isAgain }: Partition, reason: string): AcceptedReading {
    return this.report(this.verdict({ partition: id, proof: 'none', readings, complete: false, reason }), [], isAgain);
  }

  private verdict(parts: Pick<Verdict, 'partition' | 'proof'> & Partial<Verdict>): Verdict {
    const { partition } = parts;
    const name = partition === null ? undefined : this.pages.names.get(partition);
    return {
      dataset: this.pipeline.table,
      listed: this.listing === null || partition === null ? null : this.listing.of(partition).total,
      read_at: this.options.clock.now().toISOString(),
      ...(name !== undefined && { name }),
      complete: true,
      grade: null,
      received: 0,
      pages: 0,
      readings: 1,
      reason: null,
      content: null,
      ...parts,
    };
  }

  private report(verdict: Verdict, pages: readonly AcceptedPage[], isAgain = false): AcceptedReading {
    const records = pages.reduce((sum, { count }) => sum + count, 0);
    if (!isAgain) this.options.report({ kind: 'partition', dataset: this.pipeline.table, records, verdict });
    return { verdict, pages };
  }

  private warn(message: string): void {
    this.options.report({ kind: 'warning', message: `${this.pipeline.table}: ${message}.` });
  }
}
