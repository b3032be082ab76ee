/** Runs a command line within the test's own process, for what needs none of its own: neither a signal, nor a stream that breaks. */

import { vi } from 'vitest';
import { runCommandLine } from '../../src/cli/command-line.ts';
import type { CliResult } from './run-cli.ts';

/** @param environment All variables that the command sees; nothing of the tests' own environment. */
export async function runHere(
  words: readonly string[],
  environment: Record<string, string> = {},
  cwd: string = process.cwd(),
): Promise<CliResult> {
  const printed = { stdout: '', stderr: '' };
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((chunk) => {
      printed[name] += String(chunk);
      return true;
    }),
  );
  const before = { argv: process.argv, environment: process.env, cwd: process.cwd(), exitCode: process.exitCode };
  process.argv = [process.execPath, 'rekap', ...words];
  process.env = { ...environment };
  process.chdir(cwd);
  try {
    await runCommandLine([...words]);
    return { code: Number(process.exitCode), ...printed };
  } finally {
    process.argv = before.argv;
    process.env = before.environment;
    process.chdir(before.cwd);
    process.exitCode = before.exitCode;
    for (const spy of spies) spy.mockRestore();
  }
}
