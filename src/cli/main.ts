#!/usr/bin/env node
/** The process of the command line: what holds for as long as it runs, whatever the command. */

import { ExitCode, systemReason } from '../errors.ts';
import { runCommandLine } from './command-line.ts';

/** A reader that closes early (head, less) is no failure, and hides none; a full disk is one, and it must not pass unsaid. */
function endUnwritable(error: NodeJS.ErrnoException): never {
  if (error.code === 'EPIPE') process.exit();
  process.stderr.write(
    `rekap: Standard output cannot be written: ${systemReason(error)}.\n  Make room there or send it elsewhere; what was published stays published.\n`,
  );
  process.exit(ExitCode.unexpected);
}

process.stdout.on('error', endUnwritable);
// What cannot be told must not stop the work: a sync goes on although the disk with its log is full.
process.stderr.on('error', () => undefined);
await runCommandLine(process.argv.slice(2));
