/** What `rekap --help` prints. Written without yargs, which takes twice as long to load as Node itself. */

import { commands } from './commands.ts';
import { paint } from './print/terminal.ts';
import { inColumns, widthOf, wrap } from './print/wrap-text.ts';

const purpose = 'Brings the DPR-RI voter statistics from their service into DuckDB and Parquet, whole and in one step.';

const examples: readonly (readonly [command: string, what: string])[] = [
  ['rekap sync --sample', 'try everything with sample figures, no service needed'],
  ['rekap sync --base-url https://…', "bring the service's figures in; the key is in REKAP_API_KEY"],
  ['rekap query "FROM turnout_national"', 'ask the published tables'],
  ['rekap diff', 'see which figures the source restated'],
];

const completion = ['completion', 'Print a script that completes commands and options in your shell'] as const;

const notes = [
  'Each command has a help of its own: rekap sync --help.',
  'Each option can also be set in the environment (REKAP_BASE_URL for --base-url) or in a JSON file given with --config; the command line comes first, then the environment, then the file.',
  'Exit codes: 0 done, 1 unexpected, 2 wrong use, 3 the quality gate refused, 4 the source failed, 5 the warehouse is busy, 129 hung up, 130 interrupted, 143 terminated.',
];

export function renderOverview(stream: NodeJS.WriteStream): string {
  const width = widthOf(stream);
  const heading = (text: string): string => paint('bold', text, stream);
  const all = [...commands.map(({ command, describe }) => [command, describe] as const), completion];
  return [
    ...wrap(purpose, width),
    '',
    `${heading('Usage')}  rekap <command> [options]`,
    '',
    heading('Commands'),
    ...inColumns(all, width),
    '',
    heading('Examples'),
    ...inColumns(examples, width),
    '',
    ...notes.flatMap((note) => [...wrap(note, width), '']),
  ].join('\n');
}

const completionExamples: typeof examples = [
  ['rekap completion >> ~/.bashrc', 'in bash, from the next shell on'],
  ['rekap completion >> ~/.zshrc', 'in zsh'],
  ['source <(rekap completion)', 'in this shell only'],
];

/** What `rekap completion --help` prints; yargs would print the script itself. */
export function renderCompletionHelp(stream: NodeJS.WriteStream): string {
  const width = widthOf(stream);
  return [
    'rekap completion',
    '',
    ...wrap(`${completion[1]}.`, width),
    '',
    paint('bold', 'Examples', stream),
    ...inColumns(completionExamples, width),
    '',
  ].join('\n');
}
