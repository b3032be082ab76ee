/** Long lines on a terminal break between words, and nowhere else do they break. */

import { describe, expect, it } from 'vitest';
import { fitLines } from '../../../src/cli/print/wrap-text.ts';

const streamOf = (columns: number | undefined): NodeJS.WriteStream =>
  Object.assign(Object.create(process.stdout) as NodeJS.WriteStream, { isTTY: columns !== undefined, columns });

const long = `    ${Array.from({ length: 30 }, (_, index) => `word${index}`).join(' ')}`;

describe('a text', () => {
  it('is broken between words, set in below its first line, and loses none', () => {
    const lines = fitLines(`short\n${long}\n`, streamOf(60)).split('\n');
    expect(lines[0]).toBe('short');
    expect(lines.at(-1)).toBe('');
    const broken = lines.slice(1, -1);
    expect(broken.length).toBeGreaterThan(3);
    for (const [index, line] of broken.entries()) {
      expect(line.length).toBeLessThan(60);
      expect(/^ */.exec(line)![0]).toHaveLength(index === 0 ? 4 : 6);
    }
    expect(broken.join(' ').split(/ +/)).toEqual(long.split(/ +/));
  });

  it('stays as it is where it just fits, as a table does', () => {
    const row = 'voters      514'.padEnd(60, '.');
    expect(fitLines(row, streamOf(60))).toBe(row);
  });

  it('goes by what is seen: colours take no room', () => {
    const painted = Array.from({ length: 9 }, () => '\u001b[32mgreen\u001b[39m').join(' ');
    expect(fitLines(painted, streamOf(60))).toBe(painted);
  });

  it('keeps a command in one piece, for it is copied', () => {
    const command = '"rekap snapshots rollback 20261120T030002Z-1f3a9c --warehouse /srv/w"';
    const fitted = fitLines(
      `Something is damaged, and this mends it, says who knows: ${command}; then all is well.`,
      streamOf(60),
    );
    expect(fitted.split('\n').some((line) => line.includes(command))).toBe(true);
  });

  it('is not broken where it goes into a file or another program', () => {
    expect(fitLines(long, streamOf(undefined))).toBe(long);
  });
});
