/** Runs the built command line as a user would, and gives what it printed and its exit code. */

import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The built entry point; `make test` builds before it runs the tests. */
const cliPath = fileURLToPath(new URL('../../dist/src/cli/main.js', import.meta.url));

/** @param environment Variables besides PATH and HOME; nothing of the tests' own environment is passed on. */
export async function runCli(
  words: readonly string[],
  environment: Record<string, string> = {},
  cwd?: string,
): Promise<CliResult> {
  const child = spawn(process.execPath, [cliPath, ...words], {
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(cwd === undefined ? {} : { cwd }),
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { code, stdout, stderr };
}
