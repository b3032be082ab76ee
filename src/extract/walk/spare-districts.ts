/**
 * Districts that nothing but the law names, of a source that lists all that it has. Such a source may fail where it is asked for one that it
 * does not know, instead of giving nothing; one failure alone may be an outage, which hides what its list has passed over.
 */

import { SourceStatusError, SourceUnreachableError, messageOf } from '../../errors.ts';

/** So many districts alike are no outage of one. */
const alike = 3;

/** Failures that say nothing of a district: an answer that cannot be read may hold records. */
const failures = [SourceStatusError, SourceUnreachableError];

export class SpareDistricts {
  private readonly districts: ReadonlySet<number>;
  /** What became of those that failed. */
  private readonly failed = new Map<number, string>();

  constructor(districts: Iterable<number>) {
    this.districts = new Set(districts);
  }

  has(dapil: number): boolean {
    return this.districts.has(dapil);
  }

  /** Notes what became of one that has given no record; says whether that may mean only that the source does not know it. */
  mayBeUnknown(dapil: number, error: unknown): boolean {
    if (!this.has(dapil) || !failures.some((kind) => error instanceof kind)) return false;
    this.failed.set(dapil, messageOf(error));
    return true;
  }

  /** What became of a district that may be unknown; null of any other. */
  whyOf(dapil: number): string | null {
    return this.failed.get(dapil) ?? null;
  }

  /** Whether so many failed that the source does not know them. */
  get areUnknown(): boolean {
    return this.failed.size >= alike;
  }
}
