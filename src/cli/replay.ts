/** rekap replay: builds the tables of a run again from its stored responses, and compares them with its snapshot. */

import { declareCommand } from './options/option.ts';
import { pick, publishOptions, readPublishOptions } from './options/all-options.ts';
import { findReportModule } from './project.ts';
import { runVisibly } from './run-visibly.ts';
import { projectOfReplay, replay } from '../replay.ts';

export const command = declareCommand({
  positionals: { run: 'ID of the run [default: the newest finished run]' },
  options: { ...pick('warehouse', 'project', 'log-format', 'json'), ...publishOptions },
  examples: [
    ['rekap replay', 'prove that the stored responses give the newest snapshot'],
    ['rekap replay 20261120T030002Z-1f3a9c', 'prove it of an earlier run'],
    ['rekap replay --accept-changes', 'publish figures that the gate refused, without new requests'],
  ],
  async run(args, [run = null]) {
    const where = { warehouse: args.warehouse, run };
    const project = await projectOfReplay(where);
    const reportModule = await findReportModule(args.project, project.name);
    const requested = { ...where, reportModule, ...readPublishOptions(args) };
    await runVisibly(project, args, (context) => replay(requested, context));
  },
});
