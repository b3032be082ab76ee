/** The published tables as the source's records, to be compared with what was served. */

import { readRows } from './read-table.ts';
import { type SourceData } from './served-source.ts';
import { project } from './sync-settings.ts';

/** The names of the served files, one per endpoint. */
export const servedFiles = ['datapemilihdpr', 'datahakpilihdpr'] as const satisfies readonly (keyof SourceData)[];

/** Every published row under the source's field names, each value as text. */
export async function readPublished(warehouse: string): Promise<SourceData> {
  const published: SourceData = { datapemilihdpr: [], datahakpilihdpr: [] };
  for (const file of servedFiles) {
    const { table, columns } = project.pipelines.find(({ path }) => path.endsWith(`/${file}`))!;
    const rows = await readRows<Record<string, unknown>>(warehouse, `FROM ${table}`);
    published[file] = rows.map((row) =>
      Object.fromEntries(Object.entries(columns).map(([name, { field }]) => [field, String(row[name])])),
    );
  }
  return published;
}

/** Each record as one text, sorted, so that two readings of the same records are equal. */
export function listRecords(data: SourceData): string[] {
  return servedFiles
    .flatMap((file) =>
      data[file].map((record) => `${file} ${JSON.stringify(Object.entries(record).toSorted(byField))}`),
    )
    .toSorted();
}

function byField([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : 1;
}
