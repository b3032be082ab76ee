/** --faults accepts names, values and presets, and refuses everything else with a clear message. */

import { describe, expect, it } from 'vitest';
import { countFaults, describeFaults, listFaults, parseFaults } from '../../src/cli/faults.ts';
import { faultList, presets, presetValues } from '../../src/serve/faults/fault-list.ts';

describe('--faults', () => {
  it('accepts names with values, and a default for a name alone', () => {
    expect(parseFaults('clamp=50,truncate=0.05,429=.1')).toEqual({ clamp: 50, truncate: 0.05, 429: 0.1 });
    expect(parseFaults(' stall = 1 , drop=0')).toEqual({ stall: 1, drop: 0 });
    for (const { name, default: usual } of faultList) expect(parseFaults(name)).toEqual({ [name]: usual });
  });

  it('accepts presets, and overrides single values', () => {
    const hostile = parseFaults('hostile');
    expect(Object.keys(hostile).toSorted()).toEqual(faultList.map(({ name }) => name).toSorted());
    expect(parseFaults('transient')).toEqual(presetValues('transient'));
    for (const spec of ['hostile,clamp=3,drop=0', 'clamp=3,drop=0,hostile'])
      expect(parseFaults(spec)).toEqual({ ...hostile, clamp: 3, drop: 0 });
  });

  it.each<[string, string, string]>([
    ['', '--faults is empty', 'rekap serve --help'],
    ['drop,,cut', 'an extra comma', 'clamp=50'],
    ['clmap=3', 'Unknown fault "clmap".', 'Did you mean clamp?'],
    ['transent', 'Unknown fault "transent".', 'Did you mean transient?'],
    ['earthquake', 'Unknown fault "earthquake".', 'rekap serve --help'],
    ['constructor', 'Unknown fault "constructor".', 'rekap serve --help'],
    ['drop=0.1,cut,drop=0.2', 'contains drop twice', 'Remove one'],
    ['drop=5%', '"5%" is not a valid value of the fault drop', 'from 0 (never) to 1 (always)'],
    ['drop=1.01', '"1.01" is not a valid value of the fault drop', 'from 0 (never) to 1 (always)'],
    ['drop=', '"" is not a valid value of the fault drop', 'from 0 (never) to 1 (always)'],
    ['drop=0x1', '"0x1" is not a valid value of the fault drop', 'from 0 (never) to 1 (always)'],
    ['clamp=0', '"0" is not a valid value of the fault clamp', 'from 1 to'],
    ['clamp=2.5', '"2.5" is not a valid value of the fault clamp', 'from 1 to'],
    ['transient=0.5', 'does not take a value', 'transient,429=0.1'],
  ])('refuses %j', (spec, message, next) => {
    const read = (): unknown => parseFaults(spec);
    expect(read).toThrow(expect.objectContaining({ code: 'usage' }));
    expect(read).toThrow(
      expect.objectContaining({ message: expect.stringContaining(message), next: expect.stringContaining(next) }),
    );
  });
});

describe('the output', () => {
  it.each([100, 79, 40])(
    'lists every fault and preset in the help, whole, in lines of at most %d characters',
    (width) => {
      const list = listFaults(width);
      const text = list.replaceAll(/\s+/g, ' ');
      for (const { sentence } of [...faultList, ...Object.values(presets)]) expect(text).toContain(sentence);
      expect(list.split('\n').filter((line) => line.length > width)).toEqual([]);
    },
  );

  it('shows the active faults, and counts how often each occurred', () => {
    const values = parseFaults('clamp=50,cut=0.1,drop=0');
    const start = describeFaults(values, 100);
    expect(start).toMatch(/^ {2}clamp +50 +a page has a maximum/m);
    expect(start).toMatch(/^ {2}cut +0\.1 +the JSON ends/m);
    expect(start).not.toContain('drop');
    expect(countFaults(values, new Map([['cut', 4]]))).toMatch(/^ {2}clamp +0\n {2}cut +4$/m);
  });
});
