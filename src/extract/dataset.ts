/** Extracts a dataset: the full listing, then each partition, then the checks that need all partitions. */

import { isRekapError } from '../errors.ts';
import { concernsOnePartition } from '../source/source-messages.ts';
import { type Partition, PartitionReader, type ProvedPass } from './partition.ts';
import { type Doubt, ListingChecks } from './listing-checks.ts';
import { type FoundListing, type FullListing, noListing, readFullListing, SeenRecords } from './full-listing.ts';
import { DatasetPages, type PageHolder } from './pages.ts';
import type { PassResult } from './prove.ts';
import type { PassDigest } from '../kinds/content.ts';
import type { ExtractOptions, Known } from './extract-options.ts';
import type { AnyPipeline } from '../project/declaration.ts';
import { comparePartitions, namePartition } from '../project/partition-names.ts';
import { countOf } from '../runtime/text.ts';
import type { AcceptedPage, AcceptedReading, Verdict } from '../stages.ts';

/** Milliseconds before an empty partition is read again if no full listing confirms it: a source may be empty for moments. */
const emptyFor = 2000;

const ifRight = 'if that is correct, add --accept-changes to the sync';

export class DatasetExtraction {
  readonly pipeline: AnyPipeline;
  private readonly options: ExtractOptions;
  private readonly known: Known;
  private readonly holder: PageHolder;
  private readonly pages: DatasetPages;
  private readonly findings: ListingChecks;
  private found: FoundListing = noListing;
  private readonly partitions = new Map<string | null, Partition>();
  /** Partitions without records, which are read again at the end. */
  private readonly empty: (string | null)[] = [];
  /** Readings that rely on the full listing, deferred until all partitions have confirmed it. */
  private readonly deferred = new Map<string | null, AcceptedReading>();
  /** Lists in which no page named a next one, although the paging says that pages do. */
  private unlinked = 0;
  /** Partitions that any dataset has; null until all are read. */
  private knownElsewhere: ReadonlySet<string> | null = null;

  constructor(pipeline: AnyPipeline, options: ExtractOptions, holder: PageHolder, reference: readonly string[]) {
    this.pipeline = pipeline;
    this.options = options;
    const { wanted, expected, before } = options;
    this.known = { wanted, expected, reference, knownBefore: before[pipeline.table] ?? [] };
    this.holder = holder;
    this.pages = new DatasetPages(pipeline, options, holder);
    this.findings = new ListingChecks(pipeline.table, this.known);
  }

  async readListing(): Promise<void> {
    if (!this.isPartitioned) return;
    this.found = await readFullListing(this.pages, this.options, (message) => this.warn(message));
    const { listing, reported } = this.found;
    if (listing !== null) this.findings.noteReported(reported);
  }

  /** True if the listing returned 403: it may be forbidden, or the key may be refused. */
  get isKeyInDoubt(): boolean {
    return this.found.refusal?.status === 403;
  }

  private get isPartitioned(): boolean {
    return this.pipeline.partition !== undefined;
  }

  private get listing(): FullListing | null {
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
    if (!this.isPartitioned) return [null];
    const { listing } = this;
    const { knownBefore, reference } = this.known;
    const isSameKind = listing === null || reference.some((id) => listed.has(id));
    const all = new Set([...listed, ...knownBefore, ...(isSameKind ? reference : [])]);
    if (listing !== null) this.findings.noteListing(listing, isSameKind);
    // The last partition of the listing comes first, because only its own pages show its end, which takes longer.
    const size = (id: string): number => (id === listing?.last ? Number.MAX_VALUE : (listing?.of(id).total ?? 0));
    return [...all].toSorted((a, b) => size(b) - size(a) || comparePartitions(a, b));
  }

  /**
   * Reads a partition until it is proved or reported as incomplete; null if the decision needs all partitions.
   *
   * @param lookahead How many of its pages may be requested at a time.
   */
  async read(id: string | null, lookahead: number): Promise<AcceptedReading | null> {
    const isAgain = this.partitions.has(id);
    const partition = this.partitions.get(id) ?? {
      id,
      seen: new SeenRecords(this.found.passes, id),
      complete: this.listing === null || id === null ? [] : [partOf(this.listing.of(id))],
      passes: 0,
      isOptional: id !== null && this.isOptional(id),
      lookahead,
    };
    this.partitions.set(id, partition);
    const mayEndOnListing = !isAgain && !this.findings.isListingShort;
    const reader = new PartitionReader(this.pages, this.options, this.listing, mayEndOnListing);
    try {
      const own = await reader.read(partition);
      if (own !== null) return this.accept(partition, own, isAgain);
      this.empty.push(id);
      return null;
    } catch (error) {
      this.options.signal.throwIfAborted();
      if (!concernsOnePartition(error)) throw error;
      const isUnavailable = isRekapError(error, 'source-status') || isRekapError(error, 'source-unreachable');
      if (
        isUnavailable &&
        id !== null &&
        partition.isOptional &&
        partition.seen.size === 0 &&
        !this.findings.isListingShort
      ) {
        this.findings.noteFailing(id, error.message.replace(/\.$/, ''));
        const { grade = null } = this.listing ?? {};
        return this.report(
          this.verdict({ partition: id, proof: 'full listing', grade, readings: partition.passes }),
          [],
        );
      }
      return this.report(this.incomplete(partition, `${error.message} ${error.next}`.trim()), [], isAgain);
    }
  }

  private isOptional(id: string): boolean {
    const { wanted, knownBefore } = this.known;
    return wanted === null && this.listing !== null && !knownBefore.includes(id) && !this.listedPartitions.includes(id);
  }

  private accept(partition: Partition, own: ProvedPass, isAgain: boolean): AcceptedReading | null {
    const { id, passes } = partition;
    const { total } = own.digest;
    const isElsewhere = id !== null && this.knownElsewhere?.has(id) === true;
    if (total === 0 && this.listing === null && isElsewhere && !this.options.acceptChanges) {
      const reason = `this dataset has no records of the partition, but another dataset does; ${ifRight}`;
      return this.report(this.incomplete(partition, reason), [], isAgain);
    }
    const { proof, grade, at, end, pageSizes: page_sizes } = own;
    if (grade === 'single' && this.pipeline.paging.by === 'next') this.unlinked += 1;
    const pages = own.accepted.length;
    const read_at = at.toISOString();
    const { content } = own.digest;
    const verdict = this.verdict({
      partition: id,
      proof,
      grade,
      end,
      page_sizes,
      received: total,
      pages,
      readings: passes,
      read_at,
      content,
    });
    if (id === null) this.findings.noteWhole(own, this.pipeline.paging.ignores ?? []);
    else this.findings.noteProved(id, own, this.listing);
    const reading = this.report(verdict, own.accepted, isAgain);
    if (proof === 'own end') {
      partition.seen.close();
      return reading;
    }
    this.deferred.set(id, reading);
    if (this.holder.isHalfFull) for (const page of reading.pages) page.release();
    return null;
  }

  /**
   * Returns the partitions to read again at the end: empty ones without confirmation and, if the listing turned out to be incomplete, all that
   * relied on it.
   */
  async partitionsToReadAgain(known: ReadonlySet<string>): Promise<(string | null)[]> {
    const { clock, signal } = this.options;
    this.knownElsewhere = known;
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
    const { places, pager } = this.pages;
    for (const warning of [...findings.warnings(listing, this.knownElsewhere!), ...places.warnings()])
      this.warn(warning);
    if (this.unlinked > 0)
      this.warn(
        `no page of ${countOf(this.unlinked, 'list')} named a next page, so the proof is only "single": nothing shows that the source would name one`,
      );
    const contradictions = findings.contradictions(listing);
    const unseen = pager.unseen();
    const ofListing = [
      ...(await this.doubtsOfListing()),
      ...findings.doubts(listing),
      ...(unseen === null ? [] : [unseen]),
      ...places.problems(),
    ];
    const doubts = ofListing.map((reason): Doubt => ({ partition: null, reason }));
    for (const { partition, reason } of contradictions)
      if (this.options.acceptChanges)
        this.warn(
          partition === null ? reason : `${namePartition(partition, this.pages.names.get(partition))}: ${reason}`,
        );
      else doubts.push({ partition, reason: `${reason}; ${ifRight}` });
    const doubtful = doubts.map((doubt) => ({
      verdict: this.verdict({ ...doubt, proof: 'none', complete: false }),
      pages: [],
    }));
    return [...this.deferred.values(), ...doubtful, ...this.acceptWithoutPartition()];
  }

  private async doubtsOfListing(): Promise<string[]> {
    const { listing, options } = this;
    if (!this.isPartitioned || options.wanted !== null || (await this.pages.isNothingAt(listing?.total ?? 0)))
      return [];
    return [
      listing === null
        ? 'the source returned no full listing at first, but returns one now'
        : `the full listing had ${listing.total} records when it was read, but has more now`,
    ];
  }

  /** Records without a partition come last, so that copies which belong to a partition count as duplicates. */
  private acceptWithoutPartition(): AcceptedReading[] {
    const { withoutPartition: pages } = this.found;
    if (pages.length === 0) return [];
    const received = pages.reduce((sum, { count }) => sum + count, 0);
    const { grade = null } = this.listing ?? {};
    const verdict = this.verdict({ partition: null, proof: 'full listing', grade, received, pages: pages.length });
    return [{ verdict, pages }];
  }

  private incomplete({ id, passes }: Partition, reason: string): Verdict {
    return this.verdict({ partition: id, proof: 'none', readings: passes, complete: false, reason });
  }

  private verdict(parts: Pick<Verdict, 'partition' | 'proof'> & Partial<Verdict>): Verdict {
    const { listing } = this;
    const listed = listing === null || parts.partition === null ? null : listing.of(parts.partition).total;
    const defaults = { complete: true, grade: null, received: 0, pages: 0, readings: 1, reason: null, content: null };
    const read_at = this.options.clock.now().toISOString();
    const name = parts.partition === null ? undefined : this.pages.names.get(parts.partition);
    return {
      dataset: this.pipeline.table,
      listed,
      read_at,
      ...(name !== undefined && { name }),
      ...defaults,
      ...parts,
    };
  }

  private report(verdict: Verdict, pages: readonly AcceptedPage[], isKnown = false): AcceptedReading {
    const records = pages.reduce((sum, { count }) => sum + count, 0);
    if (!isKnown) this.options.report({ kind: 'partition', dataset: this.pipeline.table, records, verdict });
    return { verdict, pages };
  }

  private warn(message: string): void {
    this.options.report({ kind: 'warning', message: `${this.pipeline.table}: ${message}.` });
  }
}

function partOf({ total, content }: PassDigest): PassResult {
  return { total, content, longest: null };
}
