#!/usr/bin/env node
/** The command line: finds the command, and turns every failure into one message and an exit code. */

import { distance } from 'fastest-levenshtein';
import yargs, { type CommandModule } from 'yargs';
import { ExitCode, RekapError, UsageError } from '../errors.ts';
import { closestName } from './closest-name.ts';
import { connectCommand } from './connect.ts';
import { optionNames } from './options.ts';
import { queryCommand } from './query.ts';
import { serveCommand } from './serve.ts';
import { snapshotsCommand } from './snapshots.ts';
import { syncCommand } from './sync.ts';
import { printError } from './terminal.ts';
import { readVersion } from './version.ts';

// Each command types its own arguments; to yargs they are all alike.
const commands = [
  syncCommand,
  queryCommand,
  connectCommand,
  snapshotsCommand,
  serveCommand,
] as unknown as CommandModule[];

async function main(words: string[]): Promise<number> {
  hideExperimentalNotices();
  // A reader that closes early (head, less) is no failure.
  process.stdout.on('error', (error: NodeJS.ErrnoException) =>
    process.exit(error.code === 'EPIPE' ? ExitCode.done : ExitCode.unexpected),
  );
  const parser = yargs(words)
    .scriptName('rekap')
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
      throw error ?? explainUsage(message);
    });
  for (const command of commands) parser.command(command);
  await parser.parseAsync();
  return ExitCode.done;
}

/** undici announces its decompression as experimental on every run; that is for us to know and not for the user. */
function hideExperimentalNotices(): void {
  process.removeAllListeners('warning');
  process.on('warning', (warning) => {
    if (warning.name !== 'ExperimentalWarning') process.stderr.write(`${warning.name}: ${warning.message}\n`);
  });
}

/** yargs' complaint in words of ours, with the nearest name that exists. */
function explainUsage(message: string): UsageError {
  const unknown = /^Unknown (?:arguments?|commands?): (.+)$/.exec(message)?.[1]?.split(', ')[0];
  const meant = /^Did you mean (.+)\?$/.exec(message)?.[1];
  if (meant !== undefined) {
    // yargs names what was meant, but not what was typed: the first word that stands where a command should.
    const typed = words.find((word) => !word.startsWith('-') && distance(word, meant) <= 3 && word !== meant);
    return new UsageError(`There is no command ${JSON.stringify(typed ?? words[0])}.`, `Did you mean ${meant}?`);
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
  printError(error);
  process.exitCode = error instanceof RekapError ? error.exitCode : ExitCode.unexpected;
}
