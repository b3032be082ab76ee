/** Another process that has a DuckDB file open for writing. */

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished } from 'vitest';

/** Opens the file that its first word names, says so, and stays. */
export const holdingProgram = `
  const { DuckDBInstance } = await import('@duckdb/node-api');
  const instance = await DuckDBInstance.create(process.argv[1]);
  const connection = await instance.connect();
  process.stdout.write('held');
  setInterval(() => connection, 1000);
`;

/** Holds `file` until the process is killed, or the present test is over. */
export async function holdDatabase(file: string): Promise<ChildProcess> {
  const words = ['--input-type=module', '--eval', holdingProgram, file];
  const holder = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void holder.kill('SIGKILL'));
  const [answer] = await Promise.race([once(holder.stdout, 'data'), once(holder, 'exit')]);
  expect(String(answer)).toBe('held');
  return holder;
}
