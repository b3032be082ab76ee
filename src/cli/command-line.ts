/** The command line: finds the command, and turns every failure into one message and an exit code. */

import { commandNames, commands } from './commands.ts';
import { beginInvocation } from './options/invocation.ts';
import { terminalColumns } from './print/wrap-text.ts';
import { ExitCode, RekapError, tooFewFiles } from '../errors.ts';
import { readVersion } from '../runtime/version.ts';

/** Runs the command that these words ask for; a failure is printed. Sets the exit code of the process. */
export async function runCommandLine(words: string[]): Promise<void> {
  beginInvocation(commandOf(words));
  try {
    await dispatch(words);
    process.exitCode = ExitCode.done;
  } catch (thrown) {
    const error = tooFewFiles(thrown) ?? explainGone(thrown);
    // Before anything is printed: where nobody reads that, it is all there is to know the failure by.
    process.exitCode = error instanceof RekapError ? error.exitCode : ExitCode.unexpected;
    const [{ printError, printJsonError }, { asksForJson }] = await Promise.all([
      import('./print/terminal.ts'),
      import('./options/declare-options.ts'),
    ]);
    printError(error);
    if (asksForJson(words)) printJsonError(error);
  }
}

/** The error itself, or one that says that there is no folder to be in. */
function explainGone(error: unknown): unknown {
  const isGone = error instanceof Error && 'syscall' in error && error.syscall === 'uv_cwd';
  return isGone
    ? new RekapError('usage', 'The folder that you are in has been removed.', 'Go to another one and run it again.', {
        cause: error,
      })
    : error;
}

async function dispatch(typed: string[]): Promise<void> {
  const words = typed[0] === 'help' ? helpAsked(typed.slice(1)) : typed;
  if (words.length === 1 && (words[0] === '--version' || words[0] === '-v')) {
    process.stdout.write(`${readVersion()}\n`);
    return;
  }
  const asksForHelp =
    words.some((word) => word === '--help' || word === '-h') || (words.length === 1 && words[0] === 'help');
  if (words.length === 0 || (asksForHelp && !words.some((word) => commandNames.includes(word)))) {
    process.stdout.write((await import('./overview.ts')).renderOverview(process.stdout));
    return;
  }
  if (asksForHelp && words[0] === 'completion') {
    process.stdout.write((await import('./overview.ts')).renderCompletionHelp(process.stdout));
    return;
  }
  // yargs prints the script before it looks at what else was said.
  if (words[0] === 'completion' && words.length > 1)
    throw (await import('./explain-usage.ts')).explainUsage(`Unknown argument: ${words[1]}`, words);
  const [{ default: yargs }, { parserConfiguration }] = await Promise.all([
    import('yargs'),
    import('./options/declare-options.ts'),
  ]);
  const parser = yargs(words)
    .scriptName('rekap')
    .detectLocale(false)
    .usage('Usage: $0 <command> [options]')
    .version(readVersion())
    .alias({ h: 'help', v: 'version' })
    // yargs makes the text of the help for every command, shown or not; without wrapping it takes half the time.
    .wrap(asksForHelp ? Math.min(100, terminalColumns(process.stdout) ?? 100) - 1 : null)
    .parserConfiguration(parserConfiguration)
    .strict()
    .recommendCommands()
    .demandCommand(1, 'Name a command.')
    .completion('completion', 'Print a script that completes commands and options in your shell.')
    .exitProcess(false)
    .showHelpOnFail(false)
    .fail((message, error) => {
      throw error ?? new UsageComplaint(message);
    });
  for (const { command, describe, load } of commands) {
    parser.command(
      command,
      describe,
      async (argv) => {
        const { builder } = await load();
        return typeof builder === 'function' ? builder(argv) : argv;
      },
      async (args) => (await load()).handler(args),
    );
  }
  try {
    let help = '';
    await (asksForHelp
      ? parser.parseAsync(words, {}, (_error, _args, text) => void (help = text))
      : parser.parseAsync());
    if (help !== '') process.stdout.write(`${spaceTypes(help)}\n`);
  } catch (error) {
    // What an option's own reading throws, yargs wraps into an error of its kind.
    const isComplaint = error instanceof UsageComplaint || (error instanceof Error && error.name === 'YError');
    throw isComplaint ? (await import('./explain-usage.ts')).explainUsage(error.message, words) : error;
  }
}

/** "help" and a command is that command's help; where there is no such command, that is what is wrong. */
function helpAsked(about: string[]): string[] {
  const [name] = about;
  if (name === undefined || name.startsWith('-')) return ['help', ...about];
  return commandNames.includes(name) ? [...about, '--help'] : about;
}

/** sync, or snapshots prune; null where no command is named. */
function commandOf([first = '', second = '']: readonly string[]): string | null {
  if (!commandNames.includes(first)) return null;
  return first === 'snapshots' && /^[a-z]+$/.test(second) ? `${first} ${second}` : first;
}

/** yargs sets the type of an option right behind its description where the two just fit on one line. */
function spaceTypes(help: string): string {
  return help.replaceAll(/(\S)(\[(?:boolean|string|number|array)\])/g, '$1 $2');
}

/** What yargs says of a command line that is wrong; put into words of ours before anybody sees it. */
class UsageComplaint extends Error {}
