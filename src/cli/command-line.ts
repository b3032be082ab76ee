/** Runs a command line: finds the command, reads its options, and turns every failure into a message and an exit code. */

import { commandLine } from './commands.ts';
import { beginInvocation, invocation } from './options/invocation.ts';
import { findCommand } from './options/read-command.ts';
import { isBucketUrl } from '../share/address.ts';
import { ExitCode, RekapError, tooFewFiles } from '../errors.ts';

/** Runs the command that the arguments name, and prints a failure. Sets the exit code of the process. */
export async function runCommandLine(given: readonly string[]): Promise<void> {
  const words = normalizeWords(given);
  beginInvocation(findCommand(words, commandLine.commands)?.name ?? null, commandLine);
  invocation.wantsJson = /^(true|1)$/.test(process.env['REKAP_JSON'] ?? '') || words.includes('--json');
  try {
    process.exitCode = (await run(words)) ?? ExitCode.done;
  } catch (thrown) {
    const error = tooFewFiles(thrown) ?? explainMissingFolder(thrown);
    // Set first: with output closed, only the exit code reports the failure.
    process.exitCode = error instanceof RekapError ? error.exitCode : ExitCode.unexpected;
    const { printError, printJsonError } = await import('./print/terminal.ts');
    printError(error);
    if (invocation.wantsJson) printJsonError(error);
  }
}

/**
 * Adds "list" to a group without a command, leaves only --help of options if it is among them, and moves arguments that begin with a
 * dash but aren't options behind "--".
 */
function normalizeWords(given: readonly string[]): readonly string[] {
  const [first = '--help', second, ...others] = given[0] === 'help' ? [...given.slice(1), '--help'] : given;
  const isGroup = Object.hasOwn(commandLine.groups, first) && (second === undefined || second.startsWith('-'));
  if (given.some((word) => /^(-h|--h|--help(=true)?)$/.test(word))) {
    const end = given.findIndex((word) => word.startsWith('-'));
    return [...given.slice(0, end), '--help'];
  }
  const words = [first, ...(isGroup ? ['list'] : []), ...(second === undefined ? [] : [second]), ...others];
  // SQL may begin with a comment, and - is standard input.
  const isText = (word: string): boolean => /^-+\s|^-$/.test(word);
  const texts = words.filter(isText);
  return texts.length === 0 ? words : [...words.filter((word) => !isText(word)), '--', ...texts];
}

/** Returns an error for a working directory that was removed, otherwise the error itself. */
function explainMissingFolder(error: unknown): unknown {
  if (!(error instanceof Error && 'syscall' in error && error.syscall === 'uv_cwd')) return error;
  const message = 'The working directory no longer exists.';
  return new RekapError('usage', message, 'Change to another directory, and run the command again.', { cause: error });
}

/** Returns the exit code of the command if it isn't 0. */
async function run(words: readonly string[]): Promise<number | void> {
  const { readCommand } = await import('./options/read-command.ts');
  const read = await readCommand(words, commandLine);
  if (read.command === null) return void process.stdout.write(`${read.output}\n`);
  const { command, options, positionals, failure, foundConfig } = read;
  // Fails if the working directory was removed, where every path would be misread.
  process.cwd();
  if (failure !== null) {
    await command.cannotBegin?.(options, failure);
    throw failure;
  }
  if (foundConfig !== null) (await import('./print/event-log.ts')).writeConfigNote(foundConfig, options['log-format']);
  const { warehouse } = options;
  if (typeof warehouse !== 'string' || !isBucketUrl(warehouse)) return command.run(options, positionals);
  const { fetchCopy } = await import('./use-bucket.ts');
  return command.run({ ...options, warehouse: await fetchCopy(warehouse) }, positionals);
}
