/** rekap replay: builds a snapshot again from what the source answered. */

import type { CommandModule, InferredOptionTypes, Options } from 'yargs';
import { declareOptions } from './options/declare-options.ts';
import {
  jsonOption,
  readOptionalFolder,
  publishOptions,
  readPublishOptions,
  warehouseOption,
} from './options/options.ts';

const options = {
  ...warehouseOption,
  into: {
    type: 'string',
    coerce: readOptionalFolder,
    describe: 'folder of another warehouse to build the snapshot in, to compare',
  },
  ...publishOptions,
  ...jsonOption,
} as const satisfies Record<string, Options>;

type ReplayArguments = InferredOptionTypes<typeof options> & { run: string | undefined };

export const replayCommand: CommandModule<object, ReplayArguments> = {
  builder: (argv) =>
    declareOptions(
      argv.positional('run', { type: 'string', describe: 'id of the run [default: the newest that came to its end]' }),
      options,
      {
        examples: [
          ['$0 replay', 'show that the newest snapshot follows from its answers'],
          ['$0 replay 20261120T030002Z-1f3a9c --into /tmp/again', 'build it in another folder'],
          ['$0 replay --accept-changes', 'publish what the gate refused, without asking the source again'],
        ],
      },
    ),
  async handler(args) {
    const [{ loadProject }, { replay }, { runVisibly }] = await Promise.all([
      import('../../pipelines/index.ts'),
      import('../replay.ts'),
      import('./signals.ts'),
    ]);
    const project = loadProject();
    const asked = {
      warehouse: args.warehouse,
      run: args.run ?? null,
      into: args.into ?? null,
      ...readPublishOptions(args),
    };
    await runVisibly(project, args.json, (around) => replay(project, asked, around));
  },
};
