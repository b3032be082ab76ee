/** Commands that messages name can be typed as they stand. */

import { afterEach, describe, expect, it } from 'vitest';
import { complete, noteWarehouse } from '../../src/cli/advice.ts';

afterEach(() => noteWarehouse([]));

const advice = '"rekap replay 1" builds it again; "rekap snapshots rollback 2" makes that one current.';

describe('a command in a message', () => {
  it('stands as it is where the command line names no warehouse', () => {
    noteWarehouse(['sync', '--sample']);
    expect(complete(advice)).toBe(advice);
  });

  it.each<[string[], string]>([
    [['query', 'SELECT 1', '--warehouse', 'w'], 'w'],
    [['--warehouse=/srv/w', 'query', 'SELECT 1'], '/srv/w'],
    [['sync', '--warehouse', 'data of ours'], "'data of ours'"],
    [['sync', '--warehouse', "it's"], String.raw`'it'\''s'`],
  ])('goes over the warehouse that the command line names: %j', (words, typed) => {
    noteWarehouse(words);
    expect(complete(advice)).toBe(
      `"rekap replay 1 --warehouse ${typed}" builds it again; "rekap snapshots rollback 2 --warehouse ${typed}" makes that one current.`,
    );
  });

  it('is left alone where it says more, or goes over none', () => {
    noteWarehouse(['sync', '--warehouse', 'w']);
    for (const text of ['"rekap sync --help" shows', '"rekap <command> --help"', '"rekap diff --warehouse x"'])
      expect(complete(text)).toBe(text);
  });
});
