/** A warehouse with snapshots, the state that most of what happens to a warehouse begins with. */

import { sharedWarehouse, type Prepared } from './prepared-warehouse.ts';
import { runSync, serveData, smallNation, type SourceData } from './served-source.ts';
import { syncOptions } from './sync-settings.ts';

/** Regencies by partition. */
export const nation = { 1101: 3, 1102: 12, 1201: 1 };

/**
 * Known of each warehouse are the ids of its snapshots, which are those of their runs.
 *
 * @param versions What the source gives at each sync.
 */
export function preparedSnapshots<Versions extends readonly SourceData[]>(
  ...versions: Versions
): () => Promise<Prepared<{ [Index in keyof Versions]: string }>> {
  return sharedWarehouse(JSON.stringify(versions), async (warehouse) => {
    const ids: string[] = [];
    for (const version of versions) {
      const { url } = await serveData(version);
      ids.push((await runSync(syncOptions(warehouse, url))).run);
    }
    return ids as { [Index in keyof Versions]: string };
  });
}

/** A warehouse with one snapshot of the nation. */
export const publishedNation = (): ReturnType<typeof preparedSnapshots<[SourceData]>> =>
  preparedSnapshots(smallNation(nation));
