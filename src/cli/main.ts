#!/usr/bin/env node
/** Entry point of the command line: handles closed output and unexpected errors. */

import { ExitCode, messageOf, systemReason, explainSystemLimit } from '../errors.ts';

/** A reader that closes early, such as head, is not a failure. A full disk is one. */
function endUnwritable(error: NodeJS.ErrnoException): never {
  if (error.code === 'EPIPE') process.exit();
  process.stderr.write(
    `rekap: Standard output cannot be written: ${systemReason(error)}.\n  Free some space or redirect the output. Published data is unchanged.\n`,
  );
  // An earlier failure determines the exit code.
  process.exit(process.exitCode || ExitCode.unexpected);
}

/** True after a failure was printed. Later errors are consequences of it. */
let hasReported = false;

/** Prints errors that runCommandLine didn't catch, such as a module that can't be loaded or an unhandled rejection. */
function endUnreported(error: unknown): never {
  if (hasReported) process.exit();
  const limit = explainSystemLimit(error);
  const next = limit?.next ?? 'This is a bug in rekap. Set REKAP_DEBUG=1 to see the stack trace.';
  process.stderr.write(`rekap: ${limit?.message ?? `unexpected error: ${messageOf(error)}`}\n  ${next}\n`);
  if (process.env['REKAP_DEBUG'] !== undefined && error instanceof Error)
    process.stderr.write(`${error.stack ?? ''}\n`);
  process.exit(ExitCode.unexpected);
}

process.stdout.on('error', endUnwritable);
// A sync continues even if the disk with its log is full.
process.stderr.on('error', () => undefined);
process.on('uncaughtException', endUnreported);
// Not a static import, whose failure Node would print with a stack trace.
const { runCommandLine } = await import('./command-line.ts');
await runCommandLine(process.argv.slice(2));
hasReported = process.exitCode !== ExitCode.done;
