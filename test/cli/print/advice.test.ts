/** Commands in messages can be copied into a shell. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { complete } from '../../../src/cli/print/terminal.ts';
import { beginInvocation, invocation } from '../../../src/cli/options/invocation.ts';

beforeEach(() => beginInvocation(null));
afterEach(() => beginInvocation(null));

const advice = '"rekap replay 1" builds it again; "rekap snapshots rollback 2" makes that one current.';

describe('a command in a message', () => {
  it('is unchanged if no option names a warehouse', () => {
    expect(complete(advice)).toBe(advice);
  });

  it.each([
    ['w', '--warehouse w'],
    ['/srv/w', '--warehouse /srv/w'],
    ['data of ours', "--warehouse 'data of ours'"],
    ["it's", String.raw`--warehouse 'it'\''s'`],
    ['-w', '--warehouse=-w'],
  ])('names the warehouse of the options: %j', (warehouse, option) => {
    invocation.warehouse = warehouse;
    expect(complete(advice)).toBe(
      `"rekap replay 1 ${option}" builds it again; "rekap snapshots rollback 2 ${option}" makes that one current.`,
    );
  });

  it('names another warehouse if given', () => {
    invocation.warehouse = 'w';
    expect(complete('"rekap diff"', 'other')).toBe('"rekap diff --warehouse other"');
    expect(complete('"rekap diff"', null)).toBe('"rekap diff"');
  });

  it('is unchanged if it has options or is not about a warehouse', () => {
    invocation.warehouse = 'w';
    for (const text of ['"rekap sync --help" shows', '"rekap <command> --help"', '"rekap diff --warehouse x"'])
      expect(complete(text)).toBe(text);
  });

  it('replaces <command> by the current command', () => {
    beginInvocation('snapshots verify');
    expect(complete('"rekap <command> --help" shows its default.')).toBe(
      '"rekap snapshots verify --help" shows its default.',
    );
  });
});
