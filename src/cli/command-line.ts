/** Runs a command line, and turns failures into messages and exit codes. */

import { commandLine } from './commands.ts';
import { beginInvocation, invocation } from './options/invocation.ts';
import { findCommand } from './options/read-command.ts';
import { renderOverview } from './print/overview.ts';
import { isBucketUrl } from '../share/address.ts';
import { ExitCode, RekapError, explainSystemLimit } from '../errors.ts';

export async function runCommandLine(given: readonly string[]): Promise<void> {
  const args = normalizeArguments(given);
  beginInvocation(findCommand(args, commandLine.commands)?.name ?? null, commandLine);
  invocation.printsJson = /^(true|1)$/.test(process.env['REKAP_JSON'] ?? '') || args.includes('--json');
  try {
    process.exitCode = (await run(args)) ?? ExitCode.done;
  } catch (thrown) {
    const error = explainSystemLimit(thrown) ?? explainMissingFolder(thrown);
    // Set first: with output closed, only the exit code reports the failure.
    process.exitCode = error instanceof RekapError ? error.exitCode : ExitCode.unexpected;
    const { printError, printJsonError } = await import('./print/terminal.ts');
    printError(error);
    if (invocation.printsJson) printJsonError(error);
  }
}

/** Puts the request for help last, and moves texts that begin with a dash, such as SQL comments, behind "--". */
function normalizeArguments(given: readonly string[]): readonly string[] {
  const args = given.length === 0 ? ['--help'] : given[0] === 'help' ? [...given.slice(1), '--help'] : given;
  const showsAll = args.includes('--help-all');
  if (showsAll || args.some((arg) => /^(-h|--h|--help(=true)?)$/.test(arg))) {
    const end = args.findIndex((arg) => arg.startsWith('-'));
    return [...args.slice(0, end), '--help', ...(showsAll ? ['--help-all'] : [])];
  }
  const isText = (arg: string): boolean => /^-+\s|^-$/.test(arg);
  const texts = args.filter(isText);
  return texts.length === 0 ? args : [...args.filter((arg) => !isText(arg)), '--', ...texts];
}

/** Replaces the error of a removed working directory. */
function explainMissingFolder(error: unknown): unknown {
  if (!(error instanceof Error && 'syscall' in error && error.syscall === 'uv_cwd')) return error;
  const message = 'The working directory no longer exists.';
  return new RekapError('usage', message, 'Change to another directory, and run the command again.', { cause: error });
}

async function run(args: readonly string[]): Promise<number | void> {
  const [{ readCommand }, { helpWidth }] = await Promise.all([
    import('./options/read-command.ts'),
    import('./options/parse-arguments.ts'),
  ]);
  if (args[0] === '--help') return void process.stdout.write(renderOverview(commandLine, helpWidth()));
  const read = await readCommand(args, commandLine);
  if (read.command === null) return void process.stdout.write(`${read.output}\n`);
  const { command, options, positionals, failure, foundConfig } = read;
  // Throws if the working directory was removed, because relative paths would be wrong.
  process.cwd();
  if (failure !== null) {
    await command.cannotBegin?.(options, failure);
    throw failure;
  }
  // Only commands with a log report it; `rekap doctor` shows which options the file sets.
  if (foundConfig !== null && options['log-format'] !== undefined)
    (await import('./print/event-log.ts')).writeConfigNote(foundConfig, options['log-format']);
  const { warehouse } = options;
  if (typeof warehouse !== 'string' || !isBucketUrl(warehouse)) return command.run(options, positionals);
  const { fetchCopy } = await import('./use-bucket.ts');
  return command.run({ ...options, warehouse: await fetchCopy(warehouse) }, positionals);
}
