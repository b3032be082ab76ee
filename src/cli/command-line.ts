/** Runs a command line, and turns failures into messages and exit codes. */

import { usageError } from './options/usage-error.ts';
import { commands } from './commands.ts';
import { beginInvocation, invocation } from './options/invocation.ts';
import { type CommandEntry, findCommand } from './options/option.ts';
import { renderGroup, renderOverview } from './print/overview.ts';
import { helpWidth } from './print/wrap-text.ts';
import { isBucketUrl } from '../share/address.ts';
import { ExitCode, RekapError, explainSystemLimit } from '../errors.ts';
import { readVersion } from '../runtime/version.ts';

export async function runCommandLine(given: readonly string[]): Promise<void> {
  const args = normalizeArguments(given);
  const entry = findCommand(args, commands);
  const own = entry === undefined ? args : args.slice(entry.name.split(' ').length);
  beginInvocation(entry?.name ?? null, own);
  invocation.printsJson = /^(true|1)$/.test(process.env['REKAP_JSON'] ?? '') || args.includes('--json');
  try {
    const code = entry === undefined ? await describeProgram(args) : await runCommand(own, entry);
    process.exitCode = code ?? ExitCode.done;
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
  return usageError(message, 'Change to another directory, and run the command again.', error);
}

/** Describes the commands that begin with a name, such as lake; empty if there are none. */
function describeGroup(group: string): string {
  const own = commands.filter(({ name }) => name.startsWith(`${group} `));
  return own.length === 0 ? '' : renderGroup(own, helpWidth());
}

/** Prints the help of the program or a group, the version, or completions. @throws `usage` for anything else. */
async function describeProgram(args: readonly string[]): Promise<void> {
  const print = (text: string): void => void process.stdout.write(text);
  if (args[0] === '--help') return print(renderOverview(commands, helpWidth()));
  if (args[0] === '--version' || args[0] === '-v') return print(`${readVersion()}\n`);
  if (args[0] === 'completion' || args[0] === '--get-yargs-completions') {
    const { completeWords } = await import('./options/complete-words.ts');
    return print(`${await completeWords(args, commands)}\n`);
  }
  const group = describeGroup(args[0]!);
  if (group !== '' && args[1] === '--help') return print(group);
  const { explainCommand } = await import('./options/explain-mistake.ts');
  throw explainCommand(args, commands);
}

async function runCommand(args: readonly string[], entry: CommandEntry): Promise<number | void> {
  const [command, { parseArguments }, { isFromWorkingConfig, readSettings }] = await Promise.all([
    entry.load(),
    import('./options/parse-arguments.ts'),
    import('./options/settings.ts'),
  ]);
  const isHelp = args.includes('--help');
  const { given, failure } = isHelp ? { given: {}, failure: null } : await readSettings(command, args);
  const { output, options, positionals } = await parseArguments({ args, entry, command, given, width: helpWidth() });
  if (output !== '') return void process.stdout.write(`${output}\n${describeGroup(entry.name)}`);
  invocation.printsJson = options['json'] === true;
  // Throws if the working directory was removed, because relative paths would be wrong.
  process.cwd();
  const { warehouse } = options;
  // Advice omits a warehouse that the next command finds too.
  if ('warehouse' in invocation.origins && !isFromWorkingConfig('warehouse'))
    invocation.warehouse = warehouse as string;
  if (failure !== null) {
    await command.cannotBegin?.(options, failure);
    throw failure;
  }
  // Only commands with a log report it; `rekap doctor` shows which options the file sets.
  if (options['log-format'] !== undefined && Object.keys(options).some(isFromWorkingConfig))
    (await import('./print/event-log.ts')).writeConfigNote(options['log-format']);
  const isBucket = typeof warehouse === 'string' && isBucketUrl(warehouse);
  const local = isBucket
    ? { ...options, warehouse: await (await import('./use-bucket.ts')).fetchCopy(warehouse) }
    : options;
  const result = await command.run(local, positionals);
  if (command.print === undefined) return result as number | void;
  const { printJson, writeOut } = await import('./print/terminal.ts');
  if (invocation.printsJson) printJson(command.toJson?.(result) ?? result);
  else await writeOut(await command.print(result, local));
  return command.finish?.(result);
}
