/** rekap replay: rebuilds a snapshot from the stored responses. */

import { declareCommand } from './options/option.ts';
import { findReportModule, projectOption } from './project.ts';
import { jsonOption, logOptions, publishOptions, readPublishOptions, warehouseOption } from './options/shared.ts';

export const replayCommand = declareCommand({
  positionals: { run: 'ID of the run [default: the newest finished run]' },
  options: {
    ...warehouseOption,
    into: {
      type: 'string',
      path: 'folder',
      describe: 'build the snapshot in another warehouse, for comparison',
    },
    ...projectOption,
    ...publishOptions,
    ...logOptions,
    ...jsonOption,
  },
  examples: [
    ['rekap replay', 'prove that the stored responses give the newest snapshot'],
    ['rekap replay 20261120T030002Z-1f3a9c --into /tmp/again', 'build the snapshot in another folder'],
    ['rekap replay --accept-changes', 'publish figures that the gate refused, without new requests'],
  ],
  async run(args, [run = null]) {
    const [{ replay, projectOfReplay }, { runVisibly }] = await Promise.all([
      import('../replay.ts'),
      import('./run-visibly.ts'),
    ]);
    const where = { warehouse: args.warehouse, run };
    const project = await projectOfReplay(where);
    const reportModule = await findReportModule(args.project, project.name);
    const requested = { ...where, into: args.into ?? null, reportModule, ...readPublishOptions(args) };
    const logFormat = args['log-format'];
    await runVisibly(project, args.json, (context) => replay(requested, context), { logFormat });
  },
});
