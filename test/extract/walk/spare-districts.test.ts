/** Districts that only the law names, and at which a source fails that lists all that it has: unknown to it where it fails at several alike. */

import { describe, expect, it } from 'vitest';
import {
  EnvelopeError,
  RepeatedPageError,
  SourceStatusError,
  SourceUnreachableError,
  type RekapError,
} from '../../../src/errors.ts';
import type { Verdict } from '../../../src/stages.ts';
import { runExtract } from '../../support/run-extract.ts';
import { changed, faultless, simulateSource } from '../../support/simulated-source.ts';
import { half, named, records } from '../three-districts.ts';

const known = [1101, 1102, 1103];
const outage = new SourceStatusError(500, 'out of order.');

/** A source that fails at these districts from this record on. */
function failingAt(districts: readonly number[], error: RekapError = outage, from = 0, behaviour = {}) {
  return changed(simulateSource(records, { ...faultless, cap: 5, ...behaviour }, half), (request) => {
    if (request.dapil !== null && districts.includes(request.dapil) && request.offset >= from) throw error;
    return request;
  });
}

const incomplete = (verdicts: readonly Verdict[]): unknown[] =>
  verdicts.filter(({ complete }) => !complete).map(({ dapil }) => dapil);

describe('a source that fails at districts which its list does not name', () => {
  it.each([outage, new SourceUnreachableError('out of order.')])(
    'is read where it fails at several alike, and they are named: %o',
    async (error) => {
      const unknown = [1201, 1202, 1203];
      const { verdicts, delivered, warnings } = await runExtract(failingAt(unknown, error), {
        reference: [...known, ...unknown],
      });
      expect(incomplete(verdicts)).toEqual([]);
      expect(verdicts.filter(({ dapil }) => unknown.includes(dapil!))).toMatchObject(
        unknown.map((dapil) => ({ dapil, received: 0, proof: 'sweep', reason: null })),
      );
      expect(delivered.toSorted()).toEqual(named);
      expect(warnings.join()).toMatch(/fails where it is asked for them: 1201, 1202, 1203 \(out of order\)\.$/);
    },
  );

  it('is refused where it fails at fewer: that may be an outage, and they may have been passed over', async () => {
    const { verdicts } = await runExtract(failingAt([1201, 1202]), { reference: [...known, 1201, 1202] });
    expect(incomplete(verdicts)).toEqual([1201, 1202]);
  });

  it.each([
    ['the snapshot before had them', { knownBefore: [1201, 1202, 1203] }, {}],
    [
      'an answer cannot be read, which may hold records',
      { reference: [...known, 1201, 1202, 1203] },
      {},
      new EnvelopeError('no end'),
    ],
    ['the list is short', { reference: [...known, 1201, 1202, 1203] }, { hides: 1103 }],
    [
      'what was wrong says that they have records',
      { reference: [...known, 1201, 1202, 1203] },
      {},
      new RepeatedPageError('anew'),
    ],
  ])('is refused where %s', async (_where, settings, behaviour, error: RekapError = outage) => {
    const { verdicts } = await runExtract(failingAt([1201, 1202, 1203], error, 0, behaviour), settings);
    expect(incomplete(verdicts)).toEqual([1201, 1202, 1203]);
  });

  it('is refused where one of them has given records', async () => {
    const source = failingAt([1103], outage, 5, { hides: 1103 });
    const alike = changed(source, (request) => {
      if (request.dapil !== null && request.dapil > 1200) throw outage;
      return request;
    });
    const { verdicts } = await runExtract(alike, { reference: [...known, 1201, 1202, 1203] });
    expect(incomplete(verdicts)).toContain(1103);
  });
});
