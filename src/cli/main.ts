#!/usr/bin/env node
/** The command line: finds the command, and turns every failure into one message and an exit code. */

import type { CommandModule } from 'yargs';
import { ExitCode, RekapError, UsageError } from '../errors.ts';
import { readVersion } from './version.ts';

/** Every command; its file is loaded only when it is the one, so that help costs next to nothing. */
const commands: readonly { readonly command: string; readonly describe: string; load(): Promise<CommandModule> }[] = [
  {
    command: 'sync',
    describe: 'Fetch every district of both datasets, check them, and publish a new snapshot',
    load: async () => asModule((await import('./sync.ts')).syncCommand),
  },
  {
    command: 'replay [run]',
    describe: 'Build a snapshot again from what the source answered, without the network',
    load: async () => asModule((await import('./replay.ts')).replayCommand),
  },
  {
    command: 'query <sql>',
    describe: 'Ask the published tables one SQL question',
    load: async () => asModule((await import('./query.ts')).queryCommand),
  },
  {
    command: 'connect',
    describe: 'Print a script that opens the current snapshot in the DuckDB shell',
    load: async () => asModule((await import('./connect.ts')).connectCommand),
  },
  {
    command: 'diff [a] [b]',
    describe: 'Show which figures the source restated between two snapshots',
    load: async () => asModule((await import('./diff.ts')).diffCommand),
  },
  {
    command: 'snapshots',
    describe: 'List, show, verify, roll back and prune published snapshots',
    load: async () => asModule((await import('./snapshots.ts')).snapshotsCommand),
  },
  {
    command: 'serve',
    describe: 'Run the service: both read endpoints, as their documentation has them',
    load: async () => asModule((await import('./serve.ts')).serveCommand),
  },
];

/** Each command types its own arguments; to yargs they are all alike. */
function asModule(command: object): CommandModule {
  return command as CommandModule;
}

async function main(words: string[]): Promise<number> {
  if (words.length === 1 && (words[0] === '--version' || words[0] === '-v')) {
    process.stdout.write(`${readVersion()}\n`);
    return ExitCode.done;
  }
  hideExperimentalNotices();
  // A reader that closes early (head, less) is no failure.
  process.stdout.on('error', (error: NodeJS.ErrnoException) =>
    process.exit(error.code === 'EPIPE' ? ExitCode.done : ExitCode.unexpected),
  );
  const { default: yargs } = await import('yargs');
  const parser = yargs(words)
    .scriptName('rekap')
    .detectLocale(false)
    .usage(
      'Brings the DPR-RI voter statistics from their service into DuckDB and Parquet, whole and in one step.\n\nUsage: $0 <command> [options]',
    )
    .version(readVersion())
    .alias({ h: 'help', v: 'version' })
    .wrap(Math.min(100, process.stdout.columns ?? 100))
    .strict()
    .recommendCommands()
    .demandCommand(1, 'Name a command.')
    .completion('completion', 'Print a script that completes commands and options in your shell.')
    .example([
      ['$0 sync --sample', 'try everything with sample figures, no service needed'],
      ['$0 sync --base-url https://…', "bring the service's figures in; the key is in REKAP_API_KEY"],
      ['$0 query "FROM turnout_national"', 'ask the published tables'],
    ])
    .epilogue(
      'Each option can also be set in the environment (REKAP_BASE_URL for --base-url) or in a JSON file given with --config; the command line comes first, then the environment, then the file.\n\nExit codes: 0 done, 1 unexpected, 2 wrong use, 3 the quality gate refused, 4 the source failed, 5 the warehouse is busy.',
    )
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
    await parser.parseAsync();
  } catch (error) {
    throw error instanceof UsageComplaint ? await explainUsage(error.message) : error;
  }
  return ExitCode.done;
}

/** undici announces its decompression as experimental on every run; that is for us to know and not for the user. */
function hideExperimentalNotices(): void {
  process.removeAllListeners('warning');
  process.on('warning', (warning) => {
    if (warning.name !== 'ExperimentalWarning') process.stderr.write(`${warning.name}: ${warning.message}\n`);
  });
}

/** What yargs says of a command line that is wrong; put into words of ours before anybody sees it. */
class UsageComplaint extends Error {}

/** yargs' complaint in words of ours, with the nearest name that exists. */
async function explainUsage(message: string): Promise<UsageError> {
  const [{ distance }, { closestName }, { optionNames }] = await Promise.all([
    import('fastest-levenshtein'),
    import('./closest-name.ts'),
    import('./options.ts'),
  ]);
  const unknown = /^Unknown (?:arguments?|commands?): (.+)$/.exec(message)?.[1]?.split(', ')[0];
  const meant = /^Did you mean (.+)\?$/.exec(message)?.[1];
  if (meant !== undefined) {
    // yargs names what was meant, but not what was typed: the first word that stands where a command should.
    const typed = words.find((word) => !word.startsWith('-') && distance(word, meant) <= 3 && word !== meant);
    return new UsageError(`There is no command ${JSON.stringify(typed ?? words[0])}.`, `Did you mean ${meant}?`);
  }
  const choice = /Argument: (\S+), Given: (.+?), Choices: (.+)/.exec(message);
  if (choice !== null) {
    return new UsageError(`--${choice[1]} cannot be ${choice[2]}.`, `It is one of ${choice[3]}.`);
  }
  if (message.startsWith('Not enough non-option arguments')) {
    return new UsageError('A word is missing after the command.', '"rekap <command> --help" shows what it needs.');
  }
  if (unknown === undefined) {
    const sentence = message
      .replace(/\s*\n\s*/g, ' ')
      .trim()
      .replace(/([^.?])$/, '$1.');
    return new UsageError(sentence, '"rekap --help" and "rekap <command> --help" show what there is.');
  }
  if (words.includes(unknown)) {
    return new UsageError(
      `${JSON.stringify(unknown)} is one word too many, or no command.`,
      '"rekap --help" and "rekap <command> --help" show what there is.',
    );
  }
  const closest = closestName(unknown, [...optionNames]);
  return new UsageError(
    `There is no option --${unknown}.`,
    closest === undefined ? '"rekap <command> --help" shows what there is.' : `Did you mean --${closest}?`,
  );
}

const words = process.argv.slice(2);
try {
  process.exitCode = await main(words);
} catch (error) {
  const { printError, printJsonError } = await import('./terminal.ts');
  printError(error);
  if (words.includes('--json')) printJsonError(error);
  process.exitCode = error instanceof RekapError ? error.exitCode : ExitCode.unexpected;
}
