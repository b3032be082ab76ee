/** Shows a long text page by page, in the pager of the terminal: $PAGER, otherwise less. */

import { spawn } from 'node:child_process';
import { writeOut } from './terminal.ts';
import type { Write } from '../../snapshots/query/write-result.ts';

/** Writes what `draw` gives: as it is where it fits the terminal, else page by page. It must be short enough to be put together first. */
export async function writePaged(draw: (to: Write) => Promise<unknown>): Promise<void> {
  let text = '';
  await draw((piece) => {
    text += piece;
    return Promise.resolve();
  });
  if (!needsPager(text) || !(await showInPager(text))) await writeOut(text);
}

/** Whether a text is longer than the terminal is high. */
function needsPager(text: string): boolean {
  const { isTTY, rows } = process.stdout;
  return isTTY && process.env['PAGER'] !== 'cat' && text.split('\n').length > (rows ?? 24);
}

/** Gives whether there was a pager to show it. The shell takes $PAGER apart, as every program has it. */
async function showInPager(text: string): Promise<boolean> {
  const pager = process.env['PAGER'] ?? '';
  const env = { LESS: 'FRSX', ...process.env };
  const child =
    pager === ''
      ? spawn('less', [], { stdio: ['pipe', 'inherit', 'inherit'], env })
      : spawn(pager, { stdio: ['pipe', 'inherit', 'inherit'], env, shell: true });
  // Whoever has seen enough closes it before the end.
  child.stdin.on('error', () => undefined);
  child.stdin.end(text);
  return new Promise((done) => {
    child.once('error', () => done(false));
    // 127 is the shell's word for a program that it does not find.
    child.once('exit', (code) => done(code !== 127));
  });
}
