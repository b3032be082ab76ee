/** Reads one district again and again until two readings agree on everything that was shown, four times at most. */

import { isRekapError, RekapError } from '../errors.ts';
import type { AcceptedPage } from '../stages.ts';
import type { ExtractQuestion } from './question.ts';
import type { FullListing, Shown } from './full-listing.ts';
import type { DatasetPages } from './pages.ts';
import { Account, lackOf, mostReadings, neededReadings, Occurrences, RecordReader } from './prove.ts';
import type { ReadToEnd } from './read-pages.ts';

/**
 * Milliseconds before a district is read again whose readings disagree; doubled each time. A pause follows the first three readings at most,
 * so that all pauses of a district together take no more than 3.5 s.
 */
const firstPause = 500;

/** A district, and what its readings have brought so far. */
export interface District {
  readonly id: number;
  readonly shown: Shown;
  /** Of the readings that came to their end, the full listing's part first. */
  readonly accounts: Account[];
  /** How often it was read by itself. */
  readings: number;
  /** Whether nothing but the law names it. */
  readonly isOptional: boolean;
}

/** A district's own reading, with what it brought. */
export interface OwnReading extends ReadToEnd {
  readonly account: Account;
  readonly accepted: readonly AcceptedPage[];
}

export class DistrictReader {
  private readonly pages: DatasetPages;
  private readonly question: ExtractQuestion;
  private readonly listing: FullListing | null;
  private readonly mayEndOnListing: boolean;
  private readonly reader: RecordReader;

  /** @param mayEndOnListing Whether a reading may end where it holds just what the full listing has of the district. */
  constructor(pages: DatasetPages, question: ExtractQuestion, listing: FullListing | null, mayEndOnListing: boolean) {
    this.pages = pages;
    this.question = question;
    this.listing = listing;
    this.mayEndOnListing = mayEndOnListing;
    this.reader = new RecordReader(pages.pipeline);
  }

  /**
   * Gives the reading that proves the district; null where it seems to have no records, and no full listing confirms that: then it is to
   * be read once more when time has passed.
   *
   * @throws RekapError where four readings do not prove it, or none can.
   */
  async read(district: District): Promise<OwnReading | null> {
    const { accounts, shown } = district;
    const isFirst = district.readings === 0;
    for (;;) {
      district.readings += 1;
      // A second visit may begin after the fourth reading.
      const isLast = district.readings >= mostReadings;
      try {
        const own = await this.readOnce(district);
        const lack = this.lackOf(own, district);
        if (lack === null) return own;
        const isSteady = accounts.every(({ content }) => content === own.account.content);
        accounts.push(own.account);
        for (const page of own.accepted) page.release();
        if (isFirst && shown.size === 0) return null;
        if (isLast)
          throw new RekapError(
            'unprovable-source',
            `It was read ${district.readings} times: ${lack}.`,
            'The source leaves out records, or changed during the sync. Run the sync again.',
          );
        if (!isSteady) await this.pause(district);
      } catch (error) {
        if (!isRekapError(error, 'broken-reading') || isLast) throw error;
        await this.pause(district);
      }
    }
  }

  /** What a source shows for a moment, such as an outage, is over by the next reading. */
  private pause({ readings }: District): Promise<void> {
    return this.question.clock.sleep(firstPause * 2 ** (readings - 1), this.question.signal);
  }

  private lackOf({ proof, account, pages }: OwnReading, { accounts, shown }: District): string | null {
    if (proof === 'full listing') return null;
    const needed = neededReadings(this.listing, pages);
    return lackOf({ newest: account, earlier: accounts, shown: shown.size, needed });
  }

  private async readOnce({ id, isOptional, shown }: District): Promise<OwnReading> {
    const { listing, reader, mayEndOnListing } = this;
    const account = new Account();
    const occurrences = new Occurrences();
    const accepted: AcceptedPage[] = [];
    try {
      const end = await this.pages.read({
        district: id,
        isOptional,
        leavesEndOpen: false,
        take: (fetched, first) => {
          const { page } = fetched;
          for (let row = first; row < page.records.length; row += 1) {
            reader.read(page, row);
            if (reader.district === null) continue;
            if (reader.district !== id) throw foreignRecord(page.url, id, reader.district);
            account.add(reader.content);
            shown.add(occurrences.add(reader.key));
          }
          accepted.push(this.pages.hold(fetched, first, page.records.length - first));
        },
        isAll: (length) =>
          mayEndOnListing &&
          length > 0 &&
          listing?.hasLeftBehind(id) === true &&
          length < listing.pageLength &&
          account.content === listing.of(id).content &&
          account.total === shown.size,
      });
      return { ...end, account, accepted };
    } catch (error) {
      for (const page of accepted) page.release();
      throw error;
    }
  }
}

function foreignRecord(url: string, asked: number, found: number): RekapError {
  return new RekapError(
    'broken-reading',
    `The response of ${url} contains a record of district ${found}, not of district ${asked}.`,
    'The source does not filter by district. Contact the operator of the service.',
  );
}
