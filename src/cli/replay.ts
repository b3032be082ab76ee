/** rekap replay: builds a snapshot again from what the source answered. */

import { declareCommand } from './options/option.ts';
import { jsonOption, logOptions, publishOptions, readPublishOptions, warehouseOption } from './options/shared.ts';

export const replayCommand = declareCommand({
  words: { run: 'id of the run [default: the newest that came to its end]' },
  options: {
    ...warehouseOption,
    into: {
      type: 'folder',
      takes: 'FOLDER',
      describe: 'folder of another warehouse to build the snapshot in, to compare',
    },
    ...publishOptions,
    ...logOptions,
    ...jsonOption,
  },
  examples: [
    ['rekap replay', 'show that the newest snapshot follows from its answers'],
    ['rekap replay 20261120T030002Z-1f3a9c --into /tmp/again', 'build it in another folder'],
    ['rekap replay --accept-changes', 'publish what the gate refused, without asking the source again'],
  ],
  async run(args, [run = null]) {
    const [{ loadProject }, { replay }, { runVisibly }] = await Promise.all([
      import('../../pipelines/index.ts'),
      import('../replay.ts'),
      import('./signals.ts'),
    ]);
    const project = loadProject();
    const asked = { warehouse: args.warehouse, run, into: args.into ?? null, ...readPublishOptions(args) };
    const logFormat = args['log-format'];
    await runVisibly(project, args.json, (around) => replay(project, asked, around), {
      name: 'replay',
      logFormat,
    });
  },
});
