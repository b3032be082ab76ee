/**
 * Districts that nothing but the law names, of a source that lists all that it has. Such a source may fail where it is asked for one that it
 * does not know, instead of giving nothing; one failure alone may be an outage, which hides what its list has passed over.
 */

import { SourceStatusError, SourceUnreachableError, messageOf } from '../../errors.ts';
import type { Verdict } from '../../stages.ts';

/** So many districts alike are no outage of one. */
const alike = 3;

/** Failures that say nothing of a district: an answer that cannot be read may hold records. */
const failures = [SourceStatusError, SourceUnreachableError];

export class SpareDistricts {
  private readonly districts: ReadonlySet<number>;
  /** Why, by the verdicts that were kept back. */
  private readonly failed = new Map<Verdict, string>();

  constructor(districts: Iterable<number>) {
    this.districts = new Set(districts);
  }

  has(dapil: number): boolean {
    return this.districts.has(dapil);
  }

  /** Keeps back the verdict on one that has given no record, where its failure may say only that the source does not know it. */
  keepsBack(verdict: Verdict, error: unknown): boolean {
    if (verdict.dapil === null || !this.has(verdict.dapil)) return false;
    if (!failures.some((kind) => error instanceof kind)) return false;
    this.failed.set(verdict, messageOf(error));
    return true;
  }

  /** Whether this is the verdict on one that the source does not know: its list is whole, and it fails at several alike. */
  isUnknown(verdict: Verdict, isListWhole: boolean): boolean {
    return isListWhole && this.failed.size >= alike && this.failed.has(verdict);
  }

  /** What became of the district; null where its verdict was not kept back. */
  whyOf(verdict: Verdict): string | null {
    return this.failed.get(verdict) ?? null;
  }
}
