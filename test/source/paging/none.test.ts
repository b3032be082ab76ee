/** A list in one response: one request is a pass, and two equal passes are the proof. */

import { expect, it } from 'vitest';
import { proveList, readList } from '../../support/named-lists.ts';

const paging = { by: 'none' } as const;

it('reads a list in one request without parameters', async () => {
  const end = await readList(paging, () => ({ names: ['a', 'b'], next: null }));
  expect(end).toMatchObject({ taken: 'ab', total: 2, pages: 1, end: 'body', requested: ['/list'] });
});

it('refuses a list that names a next page, unless that is ignored', async () => {
  const give = () => ({ names: ['a', 'b'], next: '/list?page=2', link: '/list?page=2' });
  const refused = { code: 'unprovable-source', next: expect.stringContaining("ignores: ['Link', '/next']") };
  await expect(readList(paging, give)).rejects.toMatchObject(refused);
  expect(await readList({ ...paging, ignores: ['Link', '/next'] }, give)).toMatchObject({ taken: 'ab' });
});

it('returns an empty list, or a refusal', async () => {
  expect(await readList(paging, () => ({ names: [] }))).toMatchObject({ total: 0, pages: 0, refusal: null });
  expect(await readList(paging, () => 404)).toMatchObject({ total: 0, refusal: { status: 404 } });
});

it('is proved by two responses that are equal and as long as the longest', async () => {
  const lengths = [3, 2, 3];
  const { verdicts, taken, requested } = await proveList(paging, (_query, turn) => ({
    names: ['a', 'b', 'c'].slice(0, lengths[turn] ?? 0),
  }));
  expect(verdicts).toMatchObject([{ complete: true, grade: 'single', received: 3, pages: 1, readings: 3 }]);
  expect([taken, requested]).toEqual(['abc', ['/list', '/list', '/list']]);
});
