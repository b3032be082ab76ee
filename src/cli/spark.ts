/** rekap lake land, lake script and lake release: let Spark build the tables of a run. */

import { declareCommand } from './options/option.ts';
import { pick } from './options/all-options.ts';
import { lakeOptions, placeOf, readNamespace, withCatalog } from './lake-settings.ts';
import { printWarning } from './print/terminal.ts';
import { systemClock } from '../runtime/context.ts';
import { formatNumber } from '../runtime/text.ts';

export const landCommand = declareCommand({
  positionals: { run: 'ID of the run [default: the newest finished run]' },
  options: { ...pick('warehouse', 'accept-source', 'json'), ...lakeOptions },
  examples: [['rekap lake land --catalog https://…', 'copy the accepted records of the newest run to raw.records']],
  async run(args, [run = null]) {
    const { landRecords } = await import('../share/spark/land-records.ts');
    return withCatalog(args, (catalog) =>
      landRecords(
        { warehouse: args.warehouse, run },
        { ...placeOf(catalog, args.extensions), acceptSource: args['accept-source'] },
      ),
    );
  },
  print({ run, catalog, records, keepsBranches }) {
    if (!keepsBranches)
      printWarning('The catalog does not keep branches of tables, so the script of "rekap lake script" fails there.');
    return `Landed run ${run} in the table raw.records of ${catalog}: ${listCounts(records)}\n`;
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
    return sparkScript(file.project, file.run, namespace);
  },
  print: (script) => script,
});

export const releaseCommand = declareCommand({
  positionals: { run: 'ID of the run' },
  options: { ...pick('warehouse', 'accept-changes', 'accept-source', 'json'), ...lakeOptions },
  async run(args, [run = '']) {
    const { releaseRun } = await import('../share/spark/release.ts');
    return withCatalog(args, (catalog) =>
      releaseRun({
        ...placeOf(catalog, args.extensions),
        warehouse: args.warehouse,
        run,
        acceptChanges: args['accept-changes'],
        acceptSource: args['accept-source'],
        clock: systemClock,
      }),
    );
  },
  print({ outcome, namespace, catalog, run, rows }) {
    if (outcome === 'unchanged') return `The namespace ${namespace} of ${catalog} already contains run ${run}.\n`;
    return `Released run ${run} in the namespace ${namespace} of ${catalog} in one commit: ${listCounts(rows)}\n`;
  },
});

function listCounts(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([dataset, count]) => `${formatNumber(count)} of ${dataset}`)
    .join(', ');
}
