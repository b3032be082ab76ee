/** Everything that was opened is closed, even after errors. */

import { describe, expect, it } from 'vitest';
import { closeAll, orClose } from '../../src/runtime/bound-signal.ts';

/** Three things to close, of which the second fails, and a log. */
function three() {
  const closed: string[] = [];
  const closable = (name: string, failure?: Error) => ({
    async close() {
      closed.push(name);
      if (failure !== undefined) throw failure;
    },
  });
  return { closed, things: [closable('a'), closable('b', new Error('b is stuck')), null, closable('c')] };
}

describe('closing several things', () => {
  it('continues after an error, and reports it at the end', async () => {
    const { closed, things } = three();
    await expect(closeAll(things)).rejects.toThrow('b is stuck');
    expect(closed).toEqual(['a', 'b', 'c']);
  });

  it('happens if the next thing cannot be opened, and reports that error', async () => {
    const { closed, things } = three();
    const opening = orClose(things, () => Promise.reject(new Error('not there')));
    await expect(opening).rejects.toThrow('not there');
    expect(closed).toEqual(['a', 'b', 'c']);
    expect(await orClose(things, async () => 'opened')).toBe('opened');
    expect(closed).toHaveLength(3);
  });
});
