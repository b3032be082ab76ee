#!/usr/bin/env node
/** The process of the command line: what holds for as long as it runs, whatever the command. */

import { ExitCode, messageOf, systemReason, tooFewFiles } from '../errors.ts';

/** A reader that closes early (head, less) is no failure, and hides none; a full disk is one, and it must not pass unsaid. */
function endUnwritable(error: NodeJS.ErrnoException): never {
  if (error.code === 'EPIPE') process.exit();
  process.stderr.write(
    `rekap: Standard output cannot be written: ${systemReason(error)}.\n  Free some space or redirect the output. Published data is unchanged.\n`,
  );
  // A failure before it, such as that the terminal is gone, is what the command ended with.
  process.exit(process.exitCode || ExitCode.unexpected);
}

/** Whether the command line has told a failure; what else goes wrong then comes of it. */
let hasReported = false;

/** Tells what the command line could not: it, or what prints its messages, cannot be loaded, or nothing waited for what failed. */
function endUnreported(error: unknown): never {
  if (hasReported) process.exit();
  const limit = tooFewFiles(error);
  const next = limit?.next ?? 'This is a bug in rekap. Set REKAP_DEBUG=1 to see the stack trace.';
  process.stderr.write(`rekap: ${limit?.message ?? `unexpected error: ${messageOf(error)}`}\n  ${next}\n`);
  if (process.env['REKAP_DEBUG'] !== undefined && error instanceof Error)
    process.stderr.write(`${error.stack ?? ''}\n`);
  process.exit(ExitCode.unexpected);
}

process.stdout.on('error', endUnwritable);
// What cannot be told must not stop the work: a sync goes on although the disk with its log is full.
process.stderr.on('error', () => undefined);
process.on('uncaughtException', endUnreported);
// Not at the top of this file: what fails there is told by Node, with its stack.
const { runCommandLine } = await import('./command-line.ts');
await runCommandLine(process.argv.slice(2));
hasReported = process.exitCode !== ExitCode.done;
