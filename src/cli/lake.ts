/** rekap lake: publishes snapshots to the tables of an Iceberg catalog, and describes what is there. */

import { declareCommand, type Values } from './options/option.ts';
import {
  jsonOption,
  keepOptions,
  type logOptions,
  publishOptions,
  snapshotOption,
  warehouseOption,
} from './options/shared.ts';
import { catalogOptions, lakeOptions, readCatalogSettings } from './lake-settings.ts';
import { listenForSignals } from './signals.ts';
import { isRekapError, RekapError } from '../errors.ts';
import { countOf, formatNumber } from '../runtime/text.ts';
import type { CatalogSettings } from '../share/lake/catalog.ts';
import type { LakePlace } from '../share/lake/open-lake.ts';
import type { PublishedLake } from '../share/lake/publish-lake.ts';

const afterCommit =
  'If the commit was already sent, all tables have changed; otherwise none. To see which, run "rekap lake status".';

/** Memory of DuckDB in bytes. It holds a hash of every row of the largest table, and spills what doesn't fit. */
const memory = 512e6;

const sourceOption = {
  'accept-source': {
    ...publishOptions['accept-source'],
    describe: 'allow the tables to switch to another source',
  },
} as const;

const publishArguments = {
  ...warehouseOption,
  snapshot: { ...snapshotOption.snapshot, describe: 'ID of the snapshot to publish' },
  ...lakeOptions,
  ...sourceOption,
} as const;

export const publishLakeCommand = declareCommand({
  options: { ...publishArguments, ...jsonOption },
  examples: [
    ['rekap lake publish --catalog https://catalog.example', 'publish the current snapshot to the namespace rekap'],
    ['rekap lake publish --catalog https://… --namespace dpr', 'publish to another namespace'],
  ],
  async run(args) {
    const published = await publish(args);
    if (args.json) (await import('./print/terminal.ts')).printJson(published);
    else process.stdout.write(describePublished(published));
  },
});

type PublishArguments = Values<typeof publishArguments>;

async function publish(args: PublishArguments): Promise<PublishedLake> {
  return withSignals(args, async (catalog) => {
    const [{ publishToLake }, { chooseSnapshot }, { systemClock }] = await Promise.all([
      import('../share/lake/publish-lake.ts'),
      import('../warehouse/warehouse.ts'),
      import('../runtime/context.ts'),
    ]);
    return publishToLake({
      warehouse: args.warehouse,
      snapshot: await chooseSnapshot(args.warehouse, args.snapshot),
      ...placeOf(catalog, args.extensions),
      acceptSource: args['accept-source'],
      clock: systemClock,
    });
  });
}

/** Publishes the snapshot of a sync, also after a sync without changes, because the previous publication may have failed. */
export async function publishSynced(
  args: Values<typeof lakeOptions & typeof warehouseOption & typeof publishOptions & typeof logOptions> & {
    readonly json: boolean;
  },
): Promise<void> {
  const published = await publish({ ...args, snapshot: undefined }).catch((error: unknown) => {
    if (!isRekapError(error)) throw error;
    const next = `${error.next} The snapshot is published in the local warehouse. To publish it to the catalog later, run "rekap lake publish".`;
    throw new RekapError(error.code, error.message, next, { cause: error });
  });
  const text = describePublished(published);
  const logFormat = args['log-format'];
  if (!args.json && logFormat !== 'json') return void process.stdout.write(text);
  const { logToStderr } = await import('./print/event-log.ts');
  const { outcome, snapshot, catalog, namespace } = published;
  logToStderr(logFormat)('lake', { outcome, snapshot, catalog, namespace }, text.trim());
}

function describePublished({ outcome, snapshot, catalog, namespace, tag, tables }: PublishedLake): string {
  if (outcome === 'unchanged')
    return `The namespace ${namespace} of ${catalog} already contains snapshot ${snapshot}.\n`;
  const sum = (kind: 'added' | 'removed'): string =>
    formatNumber(tables.reduce((total, difference) => total + difference[kind], 0));
  return `Published snapshot ${snapshot} to the namespace ${namespace} of ${catalog} in one commit.
${countOf(tables.length, 'table')} changed: ${sum('added')} rows added, ${sum('removed')} removed. Every row was compared with the snapshot.
${tag === null ? 'The catalog does not keep tags of tables, so readers see only the current tables.' : `All tables have the tag ${tag}.`}\n`;
}

function placeOf(catalog: CatalogSettings, extensions: string | undefined): LakePlace {
  return { catalog, extensions: extensions ?? null, memory, environment: process.env };
}

async function warnOfPlainHttp(
  { 'catalog-oauth-url': tokens }: Values<typeof catalogOptions>,
  { url, token }: CatalogSettings,
): Promise<void> {
  if (token === null) return;
  const [{ isLoopback }, { warningText }] = await Promise.all([
    import('../source/base-url.ts'),
    import('./print/terminal.ts'),
  ]);
  const addresses = { '--catalog': ['token', url], '--catalog-oauth-url': ['credential', tokens] } as const;
  for (const [option, [secret, address]] of Object.entries(addresses)) {
    const { protocol, hostname } = new URL(address ?? url);
    if (address === undefined || protocol === 'https:' || isLoopback(hostname)) continue;
    const message = `The ${secret} is sent to ${hostname} without encryption, because ${option} starts with http. Others on the network can read it and change the tables. Use https if the catalog supports it.`;
    process.stderr.write(warningText(message, process.stderr));
  }
}

async function withSignals<Value>(
  args: Values<typeof catalogOptions>,
  use: (catalog: CatalogSettings) => Promise<Value>,
): Promise<Value> {
  const signals = listenForSignals({ next: afterCommit });
  try {
    const settings = await readCatalogSettings(args, signals.signal);
    await warnOfPlainHttp(args, settings);
    return await use(settings);
  } finally {
    signals.stop();
  }
}

export const landCommand = declareCommand({
  positionals: { run: 'ID of the run [default: the newest finished run]' },
  options: { ...warehouseOption, ...lakeOptions, ...sourceOption, ...jsonOption },
  examples: [['rekap lake land --catalog https://…', 'copy the accepted records of the newest run to raw.records']],
  async run(args, [run = null]) {
    const { landRecords } = await import('../share/spark/land-records.ts');
    const landed = await withSignals(args, (catalog) =>
      landRecords(
        { warehouse: args.warehouse, run },
        { ...placeOf(catalog, args.extensions), acceptSource: args['accept-source'] },
      ),
    );
    if (args.json) return (await import('./print/terminal.ts')).printJson(landed);
    const counts = Object.entries(landed.records).map(([dataset, count]) => `${formatNumber(count)} of ${dataset}`);
    if (!landed.keepsBranches) {
      const { warningText } = await import('./print/terminal.ts');
      const message =
        'The catalog does not keep branches of tables, so the script of "rekap spark-script" fails there.';
      process.stderr.write(warningText(message, process.stderr));
    }
    process.stdout.write(
      `Landed run ${landed.run} in the table raw.records of ${landed.catalog}: ${counts.join(', ')}\n`,
    );
  },
});

export const sparkScriptCommand = declareCommand({
  positionals: { run: 'ID of the run [default: the newest finished run]' },
  options: { ...warehouseOption, namespace: catalogOptions.namespace },
  examples: [['rekap spark-script > build.sql', 'then: spark-sql … -f build.sql, and: rekap lake release RUN']],
  async run({ warehouse, namespace }, [run = null]) {
    const [{ sparkScript }, { findLanding }, { readRunFile }] = await Promise.all([
      import('../share/spark/spark-script.ts'),
      import('../replay-plan.ts'),
      import('../land/landed-run.ts'),
    ]);
    const file = await readRunFile((await findLanding({ warehouse, run })).landing);
    process.stdout.write(await sparkScript(file.project, file.run, namespace));
  },
});

export const releaseCommand = declareCommand({
  positionals: { run: 'ID of the run' },
  options: {
    ...warehouseOption,
    ...lakeOptions,
    ...sourceOption,
    'accept-changes': {
      ...publishOptions['accept-changes'],
      describe: 'release even if a dataset shrank, or totals changed significantly',
    },
    ...jsonOption,
  },
  async run(args, [run = '']) {
    const [{ releaseRun }, { systemClock }] = await Promise.all([
      import('../share/spark/release.ts'),
      import('../runtime/context.ts'),
    ]);
    const released = await withSignals(args, (catalog) =>
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
    const rows = Object.entries(released.rows).map(([dataset, count]) => `${formatNumber(count)} of ${dataset}`);
    process.stdout.write(
      `Released run ${run} in the namespace ${released.namespace} of ${released.catalog} in one commit: ${rows.join(', ')}\n`,
    );
  },
});

export const lakeStatusCommand = declareCommand({
  options: { ...lakeOptions, ...jsonOption },
  async run(args) {
    const [{ readLakeStatus }, { printJson }, { renderTable }] = await Promise.all([
      import('../share/lake/inspect-lake.ts'),
      import('./print/terminal.ts'),
      import('./print/table.ts'),
    ]);
    const status = await withSignals(args, (catalog) => readLakeStatus(placeOf(catalog, args.extensions)));
    if (args.json) return printJson(status);
    const { catalog, namespace, last, tables, tags } = status;
    if (last === null)
      return void process.stdout.write(`Nothing was published to the namespace ${namespace} of ${catalog}.\n`);
    const rows = tables.map(({ table, rows: count, dataFiles, deleteFiles, snapshots }) => [
      table,
      ...[count, dataFiles, deleteFiles, snapshots].map(formatNumber),
    ]);
    const head = ['table', 'rows', 'data files', 'delete files', 'versions'];
    process.stdout.write(
      `The namespace ${namespace} of ${catalog} contains snapshot ${last.snapshot_id}.
Source: ${last.source}. Published at ${last.published_at}. Tags: ${tags}.\n\n${renderTable(rows, { head, right: [1, 2, 3, 4] })}\n`,
    );
  },
});

export const lakeTagsCommand = declareCommand({
  options: { ...catalogOptions, ...jsonOption },
  async run(args) {
    const { readLakeTags } = await import('../share/lake/inspect-lake.ts');
    const tags = await withSignals(args, (catalog) => readLakeTags({ catalog }));
    if (args.json) return (await import('./print/terminal.ts')).printJson(tags);
    process.stdout.write(
      tags.length === 0
        ? 'No snapshot has tags in this namespace.\n'
        : tags
            .map(
              ({ tag, snapshot, tables }) =>
                `${tag}  snapshot ${snapshot}, ${countOf(Object.keys(tables).length, 'table')}\n`,
            )
            .join(''),
    );
  },
});

export const lakeDiffCommand = declareCommand({
  options: {
    ...warehouseOption,
    snapshot: { ...snapshotOption.snapshot, describe: 'ID of the snapshot to compare with' },
    tag: { type: 'boolean', describe: 'compare the tag of the snapshot instead of the current tables' },
    ...lakeOptions,
    ...jsonOption,
  },
  examples: [
    ['rekap lake diff --catalog https://…', 'compare every row with the current snapshot'],
    ['rekap lake diff --catalog https://… --snapshot ID --tag', 'check that an older publication is still whole'],
  ],
  async run(args) {
    const [{ diffLake }, { chooseSnapshot }] = await Promise.all([
      import('../share/lake/inspect-lake.ts'),
      import('../warehouse/warehouse.ts'),
    ]);
    const snapshot = await chooseSnapshot(args.warehouse, args.snapshot);
    const differences = await withSignals(args, (catalog) =>
      diffLake(placeOf(catalog, args.extensions), snapshot, args.tag ? snapshot.id : null),
    );
    if (args.json) return (await import('./print/terminal.ts')).printJson(differences);
    const different = differences.filter(({ added, removed }) => added + removed > 0);
    process.stdout.write(
      different.length === 0
        ? `All ${differences.length} tables have exactly the rows of snapshot ${snapshot.id}.\n`
        : different
            .map(
              ({ table, added, removed }) =>
                `${table}: ${countOf(added, 'row')} only in snapshot ${snapshot.id}, ${countOf(removed, 'row')} only in the catalog\n`,
            )
            .join(''),
    );
  },
});

export const lakeExpireCommand = declareCommand({
  options: {
    ...catalogOptions,
    keep: { ...keepOptions.keep, describe: 'snapshots whose tags to keep' },
    ...jsonOption,
  },
  async run(args) {
    const { expireTags } = await import('../share/lake/inspect-lake.ts');
    const removed = await withSignals(args, (catalog) => expireTags({ catalog }, args.keep));
    if (args.json) return (await import('./print/terminal.ts')).printJson(removed);
    process.stdout.write(
      removed.length === 0
        ? 'No tags were removed.\n'
        : `Removed ${removed.map(({ tag }) => tag).join(', ')}.\nTo remove their data, let your engine expire the snapshots: docs/how-to/lakehouse.md has the command.\n`,
    );
  },
});
