/** rekap lake: publishes snapshots to the tables of an Iceberg catalog, and describes what is there. */

import { declareCommand, type Values } from './options/option.ts';
import { type allOptions, pick } from './options/all-options.ts';
import { catalogOptions, lakeOptions, placeOf, withCatalog } from './lake-settings.ts';
import { isRekapError, RekapError } from '../errors.ts';
import { systemClock } from '../runtime/context.ts';
import { countOf, formatNumber } from '../runtime/text.ts';
import { chooseSnapshot } from '../warehouse/warehouse.ts';
import type { PublishedLake } from '../share/lake/publish-lake.ts';

const publishArguments = { ...pick('warehouse', 'snapshot', 'accept-source'), ...lakeOptions } as const;

export const publishLakeCommand = declareCommand({
  options: { ...publishArguments, ...pick('json') },
  examples: [
    ['rekap lake publish --catalog https://catalog.example', 'publish the current snapshot to the namespace rekap'],
    ['rekap lake publish --catalog https://… --namespace dpr', 'publish to another namespace'],
  ],
  run: publish,
  print: describePublished,
});

type PublishArguments = Values<typeof publishArguments>;

async function publish(args: PublishArguments): Promise<PublishedLake> {
  return withCatalog(args, async (catalog) => {
    const { publishToLake } = await import('../share/lake/publish-lake.ts');
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
  args: Values<typeof lakeOptions & Pick<typeof allOptions, 'log-format' | 'warehouse' | 'accept-source' | 'json'>>,
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

export const lakeStatusCommand = declareCommand({
  options: { ...lakeOptions, ...pick('json') },
  async run(args) {
    const { readLakeStatus } = await import('../share/lake/inspect-lake.ts');
    return withCatalog(args, (catalog) => readLakeStatus(placeOf(catalog, args.extensions)));
  },
  async print({ catalog, namespace, last, tables, tags }) {
    if (last === null) return `Nothing was published to the namespace ${namespace} of ${catalog}.\n`;
    const { renderTable } = await import('./print/table.ts');
    const rows = tables.map(({ table, rows: count, dataFiles, deleteFiles, snapshots }) => [
      table,
      ...[count, dataFiles, deleteFiles, snapshots].map(formatNumber),
    ]);
    const head = ['table', 'rows', 'data files', 'delete files', 'versions'];
    return `The namespace ${namespace} of ${catalog} contains snapshot ${last.snapshot_id}.
Source: ${last.source}. Published at ${last.published_at}. Tags: ${tags.length}.\n\n${renderTable(rows, { head, right: [1, 2, 3, 4] })}\n`;
  },
});

export const lakeExpireCommand = declareCommand({
  options: { ...catalogOptions, ...pick('keep', 'json') },
  async run(args) {
    const { expireTags } = await import('../share/lake/inspect-lake.ts');
    return withCatalog(args, (catalog) => expireTags({ catalog }, args.keep));
  },
  print: (removed) =>
    removed.length === 0
      ? 'No tags were removed.\n'
      : `Removed ${removed.map(({ tag }) => tag).join(', ')}.\nTo remove their data, let your engine expire the snapshots: docs/how-to/lakehouse.md has the command.\n`,
});
