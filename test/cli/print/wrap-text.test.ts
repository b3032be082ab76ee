/** Long lines on a terminal are wrapped between words. */

import { describe, expect, it } from 'vitest';
import { fitLines } from '../../../src/cli/print/wrap-text.ts';

const streamOf = (columns: number | undefined): NodeJS.WriteStream =>
  Object.assign(Object.create(process.stdout) as NodeJS.WriteStream, { isTTY: columns !== undefined, columns });

const long = `    ${Array.from({ length: 30 }, (_, index) => `word${index}`).join(' ')}`;

describe('a text', () => {
  it('is wrapped between words and indented below its first line', () => {
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

  it('is not wrapped if it just fits', () => {
    const row = 'voters      514'.padEnd(60, '.');
    expect(fitLines(row, streamOf(60))).toBe(row);
  });

  it('does not count colors', () => {
    const painted = Array.from({ length: 9 }, () => '\u001b[32mgreen\u001b[39m').join(' ');
    expect(fitLines(painted, streamOf(60))).toBe(painted);
  });

  it('keeps a command on one line, so that it can be copied', () => {
    const command = '"rekap snapshots rollback 20261120T030002Z-1f3a9c --warehouse /srv/w"';
    const fitted = fitLines(
      `Something is damaged. To repair it, run this command: ${command}. Then sync again.`,
      streamOf(60),
    );
    expect(fitted.split('\n').some((line) => line.includes(command))).toBe(true);
  });

  it('is not wrapped in a file or pipe', () => {
    expect(fitLines(long, streamOf(undefined))).toBe(long);
  });
});
