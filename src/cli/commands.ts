/** The commands there are; each one's file is loaded only when it is the one, so that help costs next to nothing. */

import type { CommandModule } from 'yargs';

export interface Command {
  /** The name, and the words that follow it. */
  readonly command: string;
  readonly describe: string;
  load(): Promise<CommandModule>;
}

export const commands: readonly Command[] = [
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

/** The words that are commands. yargs knows them too, but takes twice as long to load as Node itself. */
export const commandNames: readonly string[] = [...commands.map(({ command }) => command.split(' ')[0]!), 'completion'];

/** Each command types its own arguments; to yargs they are all alike. */
function asModule(command: object): CommandModule {
  return command as CommandModule;
}
