/** The full listing: what the endpoint gives without a district, by district, and what may be concluded from it. */

import type { AnyPipeline } from '../../pipeline.ts';
import type { Page } from '../../stages.ts';
import { GrowingAccount, Occurrences, RecordReader, type Account } from './tally.ts';

const nothing: Account = new GrowingAccount();

/** Takes the pages of one reading of the listing. */
export class FullListing {
  /** Records, also those that name no district. */
  total = 0;
  /** Records of its first page. */
  pageLength = 0;
  /** Whether its pages, but for the last, differ in length: then a short page means nothing. */
  pagesVary = false;
  /** Whether the records of each district stand together. */
  isInOrder = true;
  private readonly accounts = new Map<number, GrowingAccount>();
  private readonly occurrences = new Occurrences();
  private readonly reader: RecordReader;
  private last: number | null = null;
  private lengthBefore = 0;

  constructor(pipeline: AnyPipeline) {
    this.reader = new RecordReader(pipeline);
  }

  /** Takes the records of a page from the one at `first` on; gives the rows of those that name no district. */
  add(page: Page, first: number): number[] {
    const { reader, accounts } = this;
    const { length } = page.records;
    if (this.total === 0) this.pageLength = length;
    else if (this.lengthBefore !== this.pageLength || length > this.pageLength) this.pagesVary = true;
    this.lengthBefore = length;
    const strays: number[] = [];
    for (let row = first; row < length; row += 1) {
      reader.read(page, row);
      this.occurrences.add(reader.key);
      this.total += 1;
      const { district } = reader;
      if (district === null) {
        strays.push(row);
        continue;
      }
      let account = accounts.get(district);
      if (account === undefined) accounts.set(district, (account = new GrowingAccount()));
      else if (district !== this.last) this.isInOrder = false;
      account.add(reader.content);
      this.last = district;
    }
    return strays;
  }

  get districts(): number[] {
    return [...this.accounts.keys()];
  }

  /** What it holds of a district. */
  of(district: number): Account {
    return this.accounts.get(district) ?? nothing;
  }

  has(element: Parameters<Occurrences['has']>[0]): boolean {
    return this.occurrences.has(element);
  }

  /** Whether the order of its records and the length of its pages show where a district ends. */
  get isOrderly(): boolean {
    return this.isInOrder && !this.pagesVary;
  }

  /** Whether it has surely passed all that it has of a district: another district's records followed, or there are none. */
  hasLeftBehind(district: number): boolean {
    return this.isOrderly && district !== this.last;
  }
}
