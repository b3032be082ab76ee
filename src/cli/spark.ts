/** rekap lake land, lake script and lake release: let Spark build the tables of a run. */

import { declareCommand } from './options/option.ts';
import { pick } from './options/all-options.ts';
import { lakeOptions, placeOf, readNamespace, withCatalog } from './lake-settings.ts';
import { formatNumber } from '../runtime/text.ts';

export const landCommand = declareCommand({
  positionals: { run: 'ID of the run [default: the newest finished run]' },
  options: { ...pick('warehouse', 'accept-source', 'json'), ...lakeOptions },
  examples: [['rekap lake land --catalog https://…', 'copy the accepted records of the newest run to raw.records']],
  async run(args, [run = null]) {
    const { landRecords } = await import('../share/spark/land-records.ts');
    const landed = await withCatalog(args, (catalog) =>
      landRecords(
        { warehouse: args.warehouse, run },
        { ...placeOf(catalog, args.extensions), acceptSource: args['accept-source'] },
      ),
    );
    if (args.json) return (await import('./print/terminal.ts')).printJson(landed);
    const counts = Object.entries(landed.records).map(([dataset, count]) => `${formatNumber(count)} of ${dataset}`);
    if (!landed.keepsBranches) {
      const { warningText } = await import('./print/terminal.ts');
      const message = 'The catalog does not keep branches of tables, so the script of "rekap lake script" fails there.';
      process.stderr.write(warningText(message, process.stderr));
    }
    process.stdout.write(
      `Landed run ${landed.run} in the table raw.records of ${landed.catalog}: ${counts.join(', ')}\n`,
    );
  },
});

export const scriptCommand = declareCommand({
  positionals: { run: 'ID of the run [default: the newest finished run]' },
  options: pick('warehouse', 'namespace'),
  examples: [['rekap lake script > build.sql', 'then: spark-sql … -f build.sql, and: rekap lake release RUN']],
  async run(args, [run = null]) {
    const namespace = readNamespace(args);
    const [{ sparkScript }, { findLanding, requireOwnFile }, { readRunFile }] = await Promise.all([
      import('../share/spark/spark-script.ts'),
      import('../run/replay-plan.ts'),
      import('../land/landed-run.ts'),
    ]);
    const { landing } = await findLanding({ warehouse: args.warehouse, run });
    const file = await readRunFile(landing);
    requireOwnFile(landing, file);
    process.stdout.write(await sparkScript(file.project, file.run, namespace));
  },
});

export const releaseCommand = declareCommand({
  positionals: { run: 'ID of the run' },
  options: {
    ...pick('warehouse', 'accept-changes', 'accept-source', 'json'),
    ...lakeOptions,
  },
  async run(args, [run = '']) {
    const [{ releaseRun }, { systemClock }] = await Promise.all([
      import('../share/spark/release.ts'),
      import('../runtime/context.ts'),
    ]);
    const released = await withCatalog(args, (catalog) =>
      releaseRun({
        ...placeOf(catalog, args.extensions),
        warehouse: args.warehouse,
        run,
        acceptChanges: args['accept-changes'],
        acceptSource: args['accept-source'],
        clock: systemClock,
      }),
    );
    if (args.json) return (await import('./print/terminal.ts')).printJson(released);
    if (released.outcome === 'unchanged')
      return void process.stdout.write(
        `The namespace ${released.namespace} of ${released.catalog} already contains run ${run}.\n`,
      );
    const rows = Object.entries(released.rows).map(([dataset, count]) => `${formatNumber(count)} of ${dataset}`);
    process.stdout.write(
      `Released run ${run} in the namespace ${released.namespace} of ${released.catalog} in one commit: ${rows.join(', ')}\n`,
    );
  },
});
