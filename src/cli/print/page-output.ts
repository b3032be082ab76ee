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
  const { isTTY, rows } = process.stdout;
  const needsPager = isTTY && process.env['PAGER'] !== 'cat' && text.split('\n').length > (rows ?? 24);
  if (!needsPager || !(await showInPager(text))) await writeOut(text);
}

/** Returns false if the pager doesn't exist. $PAGER is a shell command. */
async function showInPager(text: string): Promise<boolean> {
  const pager = process.env['PAGER'] ?? '';
  const child = spawn(pager || 'less', {
    stdio: ['pipe', 'inherit', 'inherit'],
    env: { LESS: 'FRSX', ...process.env },
    shell: pager !== '',
  });
  // The user may quit the pager early.
  child.stdin.on('error', () => undefined);
  child.stdin.end(text);
  return new Promise((done) => {
    child.once('error', () => done(false));
    // A shell exits with 127 if it doesn't find the program.
    child.once('exit', (code) => done(code !== 127));
  });
}
