/** The last line of `make fuzz` says that all held only where nothing failed. */

import { describe, expect, it } from 'vitest';
import { describeRun, type PropertyOutcome } from './describe-run.ts';

const outcome = (held: boolean, cases = 1200): PropertyOutcome => ({
  file: 'extract',
  property: 'gives all',
  held,
  cases,
});

describe('the outcome of make fuzz', () => {
  it('is that all held where every property did', () => {
    const text = describeRun([outcome(true), outcome(true)], true);
    expect(text).toMatch(/total +│? *2,400/);
    expect(text).toMatch(/\n\nAll 2 held\.$/);
  });

  it('counts the properties that failed, also one that was tried with every input first', () => {
    const text = describeRun([outcome(true), outcome(false), outcome(false, 0)], false);
    expect(text.match(/FAILED/g)).toHaveLength(3);
    expect(text).toMatch(/\n\n2 of 3 FAILED; see above\.$/);
  });

  it('is a failure where something failed beside the properties', () => {
    expect(describeRun([outcome(true)], false)).toMatch(/\n\nThe run FAILED beside the properties; see above\.$/);
  });
});
