/** The judge of histories finds every kind of fault in a forged log, and none in a correct one. */

import { describe, expect, it } from 'vitest';
import { judgeHistory, type Act, type History, type Look } from './judge-history.ts';

function act(began: number, version: number, overrides: Partial<Act> = {}): Act {
  const current = `S${version}`;
  const died = false;
  return {
    kind: 'sync',
    began,
    ended: began + 10,
    died,
    version,
    wanted: null,
    current,
    hash: `#${current}`,
    ...overrides,
  };
}

function look(began: number, version: number, overrides: Partial<Look> = {}): Look {
  const id = `S${version}`;
  const figures = { voters: [version, version], voting_rights_users: [version, version] };
  return {
    reader: 'a',
    began,
    ended: began + 2,
    failure: null,
    ids: [id, id, id],
    hash: `#${id}`,
    figures,
    ...overrides,
  };
}

/** Two versions are published; a third dies before the switch and a fourth behind it; then somebody goes back. */
const acts: readonly Act[] = [
  act(0, 1),
  act(20, 2),
  act(40, 3, { died: true, current: 'S2', hash: '#S2' }),
  act(60, 4, { died: true }),
  act(80, 4, { kind: 'rollback', wanted: 'S1', current: 'S1', hash: '#S1' }),
  act(100, 4, { kind: 'replay', current: 'S1', hash: '#S1' }),
  act(120, 5),
];
const looks: readonly Look[] = [
  // While the second is published, either may be seen, until one reader has seen the new one.
  look(21, 1),
  look(22, 1, { reader: 'b', ended: 29 }),
  look(24, 2),
  look(34, 2),
  look(45, 2),
  look(66, 4),
  look(84, 4),
  look(86, 1),
  look(115, 1),
  look(131, 5),
];
const honest: History = { acts, looks, published: new Set(['S1', 'S2', 'S5']), rows: 2 };

const withLook = (...more: Look[]): History => ({ ...honest, looks: [...looks, ...more] });
const withAct = (index: number, overrides: Partial<Act>): History => ({
  ...honest,
  looks: [],
  acts: acts.with(index, { ...acts[index]!, ...overrides }),
});

describe('the judge of a history', () => {
  it('finds nothing in a correct log', () => {
    expect(judgeHistory(honest)).toEqual([]);
  });

  const forged: [string, History, RegExp][] = [
    ['a read that failed', withLook(look(35, 2, { failure: 'no such file' })), /failed: no such file/],
    ['a torn table', withLook(look(35, 2, { figures: { voters: [2, 1] } })), /found version 1 in voters of S2, not 2/],
    ['a table with a missing row', withLook(look(35, 2, { figures: { voters: [2] } })), /found 1 figures in voters/],
    [
      'datasets of two versions',
      withLook(look(35, 2, { figures: { voters: [2, 2], voting_rights_users: [1, 1] } })),
      /found version 1 in voting_rights_users/,
    ],
    ['a manifest of another snapshot', withLook(look(35, 2, { ids: ['S2', 'S1', 'S2'] })), /mixed .* S2 and S1/],
    ['a manifest with other bytes', withLook(look(35, 2, { hash: '#S1' })), /not current then/],
    ['a snapshot that nobody made', withLook(look(35, 9)), /S9, which was never current/],
    ['a stale read after a sync has finished', withLook(look(35, 1)), /S1.* not current then/],
    ['a reader that goes back while a sync is under way', withLook(look(27, 1)), /went back to S1/],
    ['a reader that goes back without a rollback', withLook(look(75, 2)), /S2.* not current then/],
    ['a finished sync that shows nothing', withAct(1, { current: 'S1', hash: '#S1' }), /version 2 and left version 1/],
    [
      'a snapshot that runs.jsonl does not name',
      { ...honest, published: new Set(['S1', 'S5']) },
      /runs.jsonl does not/,
    ],
    ['a rollback to another snapshot', withAct(4, { wanted: 'S2' }), /make S2 current and left S1/],
    ['a replay that makes up a snapshot', withAct(5, { current: 'S8' }), /S8 current, which no sync made/],
    ['a death that goes back', withAct(3, { current: 'S1' }), /died and made the earlier S1/],
    ['a warehouse without a current snapshot', withAct(2, { current: null }), /left no current snapshot/],
  ];

  it.each(forged)('finds %s', (_, history, said) => {
    expect(judgeHistory(history)).toEqual([expect.stringMatching(said)]);
  });
});
