/** A list that comes in one response: one request is a pass, and two equal ones are the proof. */

import { describe, expect, it } from 'vitest';
import { proveList, readList } from '../../support/named-lists.ts';

const paging = { by: 'none' } as const;

describe('a pass', () => {
  it('is one request without parameters, whose records are all taken', async () => {
    const end = await readList(paging, () => ({ names: ['a', 'b', 'c'] }));
    expect(end).toMatchObject({ taken: 'abc', total: 3, pages: 1, asked: ['/list'] });
  });

  it('does not follow what a response says of another page', async () => {
    const end = await readList(paging, () => ({ names: ['a'], next: '/list?page=2', link: '/list?page=2' }));
    expect(end).toMatchObject({ taken: 'a', asked: ['/list'] });
  });

  it('may bring nothing, or a refusal', async () => {
    expect(await readList(paging, () => ({ names: [] }))).toMatchObject({ total: 0, pages: 0, refusal: null });
    expect(await readList(paging, () => 404)).toMatchObject({ total: 0, refusal: { status: 404 } });
  });
});

describe('the proof', () => {
  it('is a second response with the same records', async () => {
    const { verdicts, taken, asked } = await proveList(paging, () => ({ names: ['a', 'b'] }));
    expect(verdicts).toMatchObject([{ complete: true, grade: 'single', received: 2, pages: 1, readings: 2 }]);
    expect(taken).toBe('ab');
    expect(asked).toEqual(['/list', '/list']);
  });

  it('waits for a second response that is as long as the longest', async () => {
    const lengths = [3, 2, 3];
    const { verdicts, taken } = await proveList(paging, (_query, turn) => ({
      names: ['a', 'b', 'c'].slice(0, lengths[turn] ?? 0),
    }));
    expect(verdicts).toMatchObject([{ complete: true, received: 3, readings: 3 }]);
    expect(taken).toBe('abc');
  });
});
