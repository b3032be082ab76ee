/** Runs the built command line as a user would, and gives what it printed and its exit code. */

import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The built entry point; `make test` builds before it runs the tests. */
export const cliPath = fileURLToPath(new URL('../../dist/src/cli/main.js', import.meta.url));

/** A command that is still running. */
export interface RunningCli {
  readonly child: ChildProcess;
  readonly ended: Promise<CliResult>;
  /** What it has printed to stderr so far. */
  stderr(): string;
  /** Everything on stdout as soon as it or stderr holds `text`; all there was where the command ended without. */
  printed(text: string): Promise<string>;
}

/** @param environment Variables besides PATH and HOME; nothing of the tests' own environment is passed on. */
export function startCli(words: readonly string[], environment: Record<string, string> = {}, cwd?: string): RunningCli {
  const child = spawn(process.execPath, [cliPath, ...words], {
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(cwd === undefined ? {} : { cwd }),
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  return {
    child,
    ended: new Promise((resolve) => child.on('close', (code) => resolve({ code, stdout, stderr }))),
    stderr: () => stderr,
    printed: (text) =>
      new Promise((resolve) => {
        const look = (): void => {
          if ((stdout + stderr).includes(text)) resolve(stdout);
        };
        for (const stream of [child.stdout, child.stderr]) stream.on('data', look);
        child.on('close', () => resolve(stdout));
        look();
      }),
  };
}

/** Runs a command to its end. */
export function runCli(
  words: readonly string[],
  environment: Record<string, string> = {},
  cwd?: string,
): Promise<CliResult> {
  return startCli(words, environment, cwd).ended;
}
