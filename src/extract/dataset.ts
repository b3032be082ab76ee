/** Extracts one dataset: the full listing first, then each district by itself, then what only the end can show. */

import { isRekapError } from '../errors.ts';
import { concernsOneDistrict } from './ask/source-messages.ts';
import { type District, DistrictReader, type OwnReading } from './district.ts';
import { type Doubt, Findings } from './findings.ts';
import { type FoundListing, type FullListing, noListing, readFullListing, Shown } from './full-listing.ts';
import { DatasetPages, type PageHolder } from './pages.ts';
import type { ExtractQuestion } from './question.ts';
import type { AnyPipeline } from '../pipeline.ts';
import type { AcceptedPage, AcceptedReading, Verdict } from '../stages.ts';

/** Milliseconds that an empty answer must have lasted where no full listing confirms it: a source may be empty for moments. */
const emptyFor = 2000;

/** What a person can do who knows better than the source. */
const ifRight = 'if that is correct, add --accept-changes to the sync';

export class DatasetExtraction {
  readonly pipeline: AnyPipeline;
  private readonly question: ExtractQuestion;
  private readonly holder: PageHolder;
  private readonly pages: DatasetPages;
  private readonly findings: Findings;
  /** What reading the full listing came to; nothing where only some districts are wanted. */
  private found: FoundListing = noListing;
  private readonly districts = new Map<number, District>();
  /** Districts that no record shows, and that are read again at the end. */
  private readonly empty: number[] = [];
  /** What the listing's word ends, until it is known whether that counts. */
  private readonly parked = new Map<number, AcceptedReading>();
  /** Districts that any dataset has; null until all were read. */
  private knownElsewhere: ReadonlySet<number> | null = null;

  constructor(pipeline: AnyPipeline, question: ExtractQuestion, holder: PageHolder) {
    this.pipeline = pipeline;
    this.question = question;
    this.holder = holder;
    this.pages = new DatasetPages(pipeline, question, holder);
    this.findings = new Findings(pipeline.table, question);
  }

  /** Reads the full listing; throws as `readFullListing` does. */
  async readListing(): Promise<void> {
    this.found = await readFullListing(this.pages, this.question, (message) => this.warn(message));
    const { listing, reported } = this.found;
    if (listing !== null) this.findings.noteReported(reported);
  }

  /** Whether the listing was forbidden: for itself, or because the source does not accept the key. */
  get isKeyInDoubt(): boolean {
    return this.found.refusal?.status === 403;
  }

  private get listing(): FullListing | null {
    return this.found.listing;
  }

  /** Districts that the listing has named. */
  get listedDistricts(): number[] {
    return this.found.readings.flatMap(({ districts }) => districts);
  }

  /** Districts of which any record has come. */
  get shownDistricts(): number[] {
    const read = [...this.districts.values()].filter(({ shown }) => shown.size > 0);
    return [...this.listedDistricts, ...read.map(({ id }) => id)];
  }

  /**
   * The districts to ask for, those that take longest first: the listed ones, those of the snapshot before, and those of the reference
   * where its ids are of the same kind.
   *
   * @param listed Districts that the listing of any dataset has.
   */
  districtsToRead(listed: ReadonlySet<number>): number[] {
    const { listing } = this;
    const { knownBefore, reference } = this.question;
    const isSameKind = listing === null || reference.some((id) => listed.has(id));
    const all = new Set([...listed, ...knownBefore, ...(isSameKind ? reference : [])]);
    if (listing !== null) this.findings.noteListing(listing, isSameKind);
    // The listing's last district is asked first: nothing but its own pages shows where it ends, which takes longer.
    const size = (id: number): number => (id === listing?.last ? Number.MAX_VALUE : (listing?.of(id).total ?? 0));
    return [...all].toSorted((a, b) => size(b) - size(a) || a - b);
  }

  /** Reads a district until it is proved or named; null where only the end can tell. */
  async read(id: number): Promise<AcceptedReading | null> {
    const isAgain = this.districts.has(id);
    const district = this.districts.get(id) ?? {
      id,
      shown: new Shown(this.found.readings, id),
      accounts: this.listing === null ? [] : [this.listing.of(id)],
      readings: 0,
      isOptional: this.isOptional(id),
    };
    this.districts.set(id, district);
    if (!isAgain) this.question.report({ kind: 'district begins', dataset: this.pipeline.table, district: id });
    const mayEndOnListing = !isAgain && !this.findings.isListingShort;
    const reader = new DistrictReader(this.pages, this.question, this.listing, mayEndOnListing);
    try {
      const own = await reader.read(district);
      if (own !== null) return this.accept(district, own, isAgain);
      this.empty.push(id);
      return null;
    } catch (error) {
      this.question.signal.throwIfAborted();
      if (!concernsOneDistrict(error)) throw error;
      const isUnanswered = isRekapError(error, 'source-status') || isRekapError(error, 'source-unreachable');
      if (isUnanswered && district.isOptional && district.shown.size === 0 && !this.findings.isListingShort) {
        this.findings.noteFailing(id, error.message.replace(/\.$/, ''));
        return this.report(this.verdict({ district: id, proof: 'full listing', readings: district.readings }), []);
      }
      return this.report(this.incomplete(district, `${error.message} ${error.next}`.trim()), [], isAgain);
    }
  }

  /** Whether nothing but the law names a district, of a source that lists what it has. */
  private isOptional(id: number): boolean {
    const { wanted, knownBefore } = this.question;
    return wanted === null && this.listing !== null && !knownBefore.includes(id) && !this.listedDistricts.includes(id);
  }

  private accept(district: District, own: OwnReading, isAgain: boolean): AcceptedReading | null {
    const { id, readings } = district;
    const { total } = own.account;
    const isElsewhere = this.knownElsewhere?.has(id) === true;
    if (total === 0 && this.listing === null && isElsewhere && !this.question.acceptChanges) {
      const reason = `this dataset has no records of the district, but another dataset does; ${ifRight}`;
      return this.report(this.incomplete(district, reason), [], isAgain);
    }
    const { proof, at } = own;
    const pages = own.accepted.length;
    const verdict = this.verdict({ district: id, proof, received: total, pages, readings, read_at: at.toISOString() });
    this.findings.noteProved(id, own, this.listing);
    const reading = this.report(verdict, own.accepted, isAgain);
    if (proof === 'own end') return reading;
    this.parked.set(id, reading);
    if (this.holder.isHalfFull) for (const page of reading.pages) page.release();
    return null;
  }

  /**
   * Gives the districts to read again when all were read: empty ones that no listing confirms and, where the listing turned out short, all
   * that ended on its word.
   *
   * @param known Districts that any dataset has.
   */
  async districtsToReadAgain(known: ReadonlySet<number>): Promise<number[]> {
    const { clock, signal } = this.question;
    this.knownElsewhere = known;
    if (this.empty.length > 0) await clock.sleep(emptyFor, signal);
    if (!this.findings.isListingShort) return this.empty;
    const again = [...this.parked.keys()];
    for (const reading of this.parked.values()) for (const page of reading.pages) page.release();
    this.parked.clear();
    return [...this.empty, ...again];
  }

  /**
   * Gives what is left when every district was read: those that ended on the listing's word, doubts of the whole, and records without a
   * district. It asks once more whether the listing ends where it did, or is still missing.
   *
   * @throws Why there is no listing, where the districts do not make up for it.
   */
  async *finish(): AsyncGenerator<AcceptedReading> {
    const { findings, listing } = this;
    const { refusal } = this.found;
    if (refusal !== null && this.shownDistricts.length === 0) throw refusal;
    for (const warning of findings.warnings(listing, this.knownElsewhere!)) this.warn(warning);
    const contradictions = findings.contradictions(listing);
    yield* this.parked.values();
    const ofListing = [...(await this.doubtsOfListing()), ...findings.doubts(listing)];
    const doubts = ofListing.map((reason): Doubt => ({ district: null, reason }));
    for (const { district, reason } of contradictions)
      if (this.question.acceptChanges) this.warn(district === null ? reason : `district ${district}: ${reason}`);
      else doubts.push({ district, reason: `${reason}; ${ifRight}` });
    for (const doubt of doubts)
      yield { verdict: this.verdict({ ...doubt, proof: 'none', complete: false }), pages: [] };
    yield* this.acceptStrays();
  }

  private async doubtsOfListing(): Promise<string[]> {
    const { listing, question } = this;
    if (question.wanted !== null || (await this.pages.isNothingAt(listing?.total ?? 0))) return [];
    return [
      listing === null
        ? 'the source returned no full listing at first, but returns one now'
        : `the full listing had ${listing.total} records when it was read, but has more now`,
    ];
  }

  /** Records that name no district come last: where a district brought them too, they are its own. */
  private acceptStrays(): AcceptedReading[] {
    const { strays: pages } = this.found;
    if (pages.length === 0) return [];
    const received = pages.reduce((sum, { taken }) => sum + taken, 0);
    const verdict = this.verdict({ district: null, proof: 'full listing', received, pages: pages.length });
    return [{ verdict, pages }];
  }

  private incomplete({ id, readings }: District, reason: string): Verdict {
    return this.verdict({ district: id, proof: 'none', readings, complete: false, reason });
  }

  private verdict(parts: Pick<Verdict, 'district' | 'proof'> & Partial<Verdict>): Verdict {
    const { listing } = this;
    const listed = listing === null || parts.district === null ? null : listing.of(parts.district).total;
    const nothing = { complete: true, received: 0, pages: 0, readings: 1, reason: null };
    const read_at = this.question.clock.now().toISOString();
    return { dataset: this.pipeline.table, listed, read_at, ...nothing, ...parts };
  }

  /** Tells whoever watches of a verdict, once a district. */
  private report(verdict: Verdict, pages: readonly AcceptedPage[], isKnown = false): AcceptedReading {
    const records = pages.reduce((sum, { taken }) => sum + taken, 0);
    if (!isKnown) this.question.report({ kind: 'district', dataset: this.pipeline.table, records, verdict });
    return { verdict, pages };
  }

  private warn(message: string): void {
    this.question.report({ kind: 'warning', message: `${this.pipeline.table}: ${message}.` });
  }
}
