/** The command line: takes its words, runs the command, and turns every failure into one message and an exit code. */

import { allOptions, commands, groups } from './commands.ts';
import { beginInvocation, invocation } from './options/invocation.ts';
import type { CommandEntry } from './options/option.ts';
import { isBucketUrl } from '../bucket/address.ts';
import { ExitCode, RekapError, tooFewFiles } from '../errors.ts';

/** Runs the command that the arguments name, and prints a failure. Sets the exit code of the process. */
export async function runCommandLine(given: readonly string[]): Promise<void> {
  const words = nameList(given);
  const entry = findCommand(words);
  beginInvocation(entry?.name ?? null, commands);
  try {
    process.exitCode = (await dispatch(words, entry)) ?? ExitCode.done;
  } catch (thrown) {
    const error = tooFewFiles(thrown) ?? explainGone(thrown);
    // Before anything is printed: where nobody reads that, it is all there is to know the failure by.
    process.exitCode = error instanceof RekapError ? error.exitCode : ExitCode.unexpected;
    const { printError, printJsonError } = await import('./print/terminal.ts');
    printError(error);
    const { wantsJson = /^(true|1)$/.test(process.env['REKAP_JSON'] ?? '') || words.includes('--json') } = invocation;
    if (wantsJson) printJsonError(error);
  }
}

/** Adds the command "list" to a group that is given without a command. */
function nameList(words: readonly string[]): readonly string[] {
  const [first = '', second = '', ...others] = words;
  const isAlone = Object.hasOwn(groups, first) && (second === '' || second.startsWith('-'));
  const isList = isAlone && ![second, ...others].some(isHelpWord);
  return isList ? [first, 'list', ...words.slice(1)] : words;
}

function isHelpWord(word: string): boolean {
  return /^(--?h|--help(=true)?)$/.test(word);
}

/** The error itself, or one that says that there is no folder to be in. */
function explainGone(error: unknown): unknown {
  if (!(error instanceof Error && 'syscall' in error && error.syscall === 'uv_cwd')) return error;
  const message = 'The working directory no longer exists.';
  return new RekapError('usage', message, 'Change to another directory, and run the command again.', { cause: error });
}

/** Gives the exit code of the command where it is not 0. */
async function dispatch(words: readonly string[], entry: CommandEntry | undefined): Promise<number | void> {
  const [first = 'help', ...others] = words;
  if (first === '--version' || first === '-v')
    return void process.stdout.write(`${(await import('../runtime/version.ts')).readVersion()}\n`);
  if (first === '--get-yargs-completions') return (await import('./completion.ts')).complete(words, commands);
  const topic = ['help', '--help', '-h'].includes(first) ? others : words;
  const isHelp = topic !== words || others.some(isHelpWord) || words.at(-1) === 'help';
  if (isHelp) {
    const { renderCommandHelp, renderGroupHelp, renderOverview } = await import('./help.ts');
    const about = findCommand(topic);
    if (about !== undefined)
      return void process.stdout.write(renderCommandHelp(about, await about.load(), process.stdout));
    if (topic[0] !== undefined && Object.hasOwn(groups, topic[0]))
      return void process.stdout.write(renderGroupHelp(topic[0], process.stdout));
    if (topic[0] === undefined || topic[0].startsWith('-') || topic[0] === 'help')
      return void process.stdout.write(renderOverview(process.stdout));
  }
  if (entry === undefined) throw await explainCommand(topic);
  // Fails where there is no folder to be in; every path would be misread there.
  process.cwd();
  const [command, { readOptions }] = await Promise.all([entry.load(), import('./options/read-options.ts')]);
  const typed = words.slice(entry.name.split(' ').length);
  const { options, words: given, foundConfig } = await readOptions(entry, command, typed, allOptions);
  if (foundConfig !== null) (await import('./print/event-log.ts')).writeConfigNote(foundConfig, options['log-format']);
  const { warehouse } = options;
  if (typeof warehouse !== 'string' || !isBucketUrl(warehouse)) return command.run(options, given);
  const { fetchCopy } = await import('./bucket.ts');
  return command.run({ ...options, warehouse: await fetchCopy(warehouse) }, given);
}

/** The command that the first words name. */
function findCommand(words: readonly string[]): CommandEntry | undefined {
  return commands.find(({ name }) => name.split(' ').every((part, at) => words[at] === part));
}

/** What is wrong with words that name no command. */
async function explainCommand([first = '', second = '']: readonly string[]): Promise<RekapError> {
  const { didYouMean } = await import('./options/names.ts');
  const own = commands.filter(({ name }) => name.startsWith(`${first} `)).map(({ name }) => name.split(' ')[1]!);
  if (own.length > 0) {
    const advice = `The commands are ${own.join(', ')}. For details, run "rekap ${first} --help".`;
    const message = `Unknown command ${JSON.stringify(`${first} ${second}`)}.`;
    return new RekapError('usage', message, didYouMean(second, own, advice));
  }
  // It is not repeated, since it may hold a key.
  if (first.startsWith('-'))
    return new RekapError(
      'usage',
      'The command is missing: the first argument is an option.',
      'Put the command first, such as rekap sync --sample. Set an API key in REKAP_API_KEY.',
    );
  const names = [...new Set(commands.map(({ name }) => name.split(' ')[0]!))];
  return new RekapError(
    'usage',
    `Unknown command ${JSON.stringify(first)}.`,
    didYouMean(first, names, 'For the list of commands, run "rekap --help".'),
  );
}
