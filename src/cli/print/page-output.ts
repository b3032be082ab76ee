/** Shows a long text in a pager: $PAGER, otherwise less. */

import { spawn } from 'node:child_process';
import { writeOut } from './terminal.ts';
import type { Write } from '../../snapshots/query/write-result.ts';

/** Writes the output of `draw`, in a pager if it is longer than the terminal. The output is held in memory. */
export async function writePaged(draw: (to: Write) => Promise<unknown>): Promise<void> {
  let text = '';
  await draw((piece) => {
    text += piece;
    return Promise.resolve();
  });
  if (!needsPager(text) || !(await showInPager(text))) await writeOut(text);
}

function needsPager(text: string): boolean {
  const { isTTY, rows } = process.stdout;
  return isTTY && process.env['PAGER'] !== 'cat' && text.split('\n').length > (rows ?? 24);
}

/** Returns false if the pager doesn't exist. $PAGER is a shell command. */
async function showInPager(text: string): Promise<boolean> {
  const pager = process.env['PAGER'] ?? '';
  const env = { LESS: 'FRSX', ...process.env };
  const child =
    pager === ''
      ? spawn('less', [], { stdio: ['pipe', 'inherit', 'inherit'], env })
      : spawn(pager, { stdio: ['pipe', 'inherit', 'inherit'], env, shell: true });
  // The user may quit the pager early.
  child.stdin.on('error', () => undefined);
  child.stdin.end(text);
  return new Promise((done) => {
    child.once('error', () => done(false));
    // A shell exits with 127 if it doesn't find the program.
    child.once('exit', (code) => done(code !== 127));
  });
}
