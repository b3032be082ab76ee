/** Commands that messages name can be typed as they stand. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { complete } from '../../../src/cli/print/terminal.ts';
import { beginInvocation, invocation } from '../../../src/cli/options/invocation.ts';

beforeEach(() => beginInvocation(null));
afterEach(() => beginInvocation(null));

const advice = '"rekap replay 1" builds it again; "rekap snapshots rollback 2" makes that one current.';

describe('a command in a message', () => {
  it('stands as it is where nothing names a warehouse', () => {
    expect(complete(advice)).toBe(advice);
  });

  it.each([
    ['w', '--warehouse w'],
    ['/srv/w', '--warehouse /srv/w'],
    ['data of ours', "--warehouse 'data of ours'"],
    ["it's", String.raw`--warehouse 'it'\''s'`],
    ['-w', '--warehouse=-w'],
  ])('goes over the warehouse that the options name: %j', (warehouse, option) => {
    invocation.warehouse = warehouse;
    expect(complete(advice)).toBe(
      `"rekap replay 1 ${option}" builds it again; "rekap snapshots rollback 2 ${option}" makes that one current.`,
    );
  });

  it('goes over the one that is meant, where that is another', () => {
    invocation.warehouse = 'w';
    expect(complete('"rekap diff"', 'other')).toBe('"rekap diff --warehouse other"');
    expect(complete('"rekap diff"', null)).toBe('"rekap diff"');
  });

  it('is left alone where it says more, or goes over none', () => {
    invocation.warehouse = 'w';
    for (const text of ['"rekap sync --help" shows', '"rekap <command> --help"', '"rekap diff --warehouse x"'])
      expect(complete(text)).toBe(text);
  });

  it('names the command at hand, where it says that of any', () => {
    beginInvocation('snapshots prune');
    expect(complete('"rekap <command> --help" shows its default.')).toBe(
      '"rekap snapshots prune --help" shows its default.',
    );
  });
});
