/** A partition that is gone from the tables, or nearly so, or would stand beside another source's: too few rows to show in the nation, and named all the same. */

import { describe, expect, it } from 'vitest';
import { RekapError } from '../../src/errors.ts';
import { preparedSnapshots } from '../support/prepared-snapshots.ts';
import { readValue } from '../support/read-table.ts';
import { runSync, serveData, smallNation, type SourceData } from '../support/served-source.ts';
import { syncOptions } from '../support/sync-settings.ts';

const sizes = { 1101: 6, 1102: 200, 1201: 100 };
const prepared = preparedSnapshots(smallNation(sizes));
const countRows = 'SELECT count(*) FROM voters WHERE dapil_id = 1101';

/** The nation, with other values in the records of partition 1101. */
function nationWith(change: (record: Record<string, unknown>) => Record<string, unknown>): SourceData {
  const { datapemilihdpr, datahakpilihdpr } = smallNation(sizes);
  const changed = (records: Record<string, unknown>[]) =>
    records.map((record) => (record['IdDapil'] === '1101' ? change(record) : record));
  return { datapemilihdpr: changed(datapemilihdpr), datahakpilihdpr: changed(datahakpilihdpr) };
}

describe('a partition', () => {
  const nameless = nationWith((record) => ({ ...record, NamaKabupaten: '' }));

  it('whose records are all in quarantine is not published as gone, unless that is accepted', async () => {
    const { warehouse } = await prepared();
    const { url } = await serveData(nameless);
    await expect(runSync(syncOptions(warehouse, url))).rejects.toMatchObject({
      code: 'gate',
      reasons: expect.arrayContaining([
        'voters: partition 1101 has no records now, but had records in the previous snapshot',
      ]),
    });
    expect(await readValue(warehouse, countRows)).toBe('6');
    await runSync(syncOptions(warehouse, url, { acceptChanges: true }));
    expect(await readValue(warehouse, countRows)).toBe('0');
  });

  it('read anew by itself is not either', async () => {
    const { warehouse } = await prepared();
    const { url } = await serveData(nameless);
    await expect(runSync(syncOptions(warehouse, url, { partitions: ['1101'] }))).rejects.toMatchObject({
      code: 'gate',
      reasons: expect.arrayContaining([expect.stringContaining('are in quarantine')]),
    });
    expect(await readValue(warehouse, countRows)).toBe('6');
  });

  async function readAnewWith(left: number) {
    const { warehouse } = await prepared();
    const { url } = await serveData(smallNation({ ...sizes, 1101: left }));
    return runSync(syncOptions(warehouse, url, { partitions: ['1101'] }));
  }

  it('that comes with less than half of its records is refused', async () => {
    await expect(readAnewWith(2)).rejects.toThrow(/rows of partition 1101 fell from 6 to 2 \(−66\.7 %\)/);
    expect(await readAnewWith(3)).toMatchObject({ outcome: 'published' });
  });

  it('of another source does not come to stand beside those of the first', async () => {
    const { warehouse } = await prepared();
    const { url } = await serveData(smallNation(sizes));
    const other = { source: 'other', acceptSource: true };
    await expect(runSync(syncOptions(warehouse, url, { ...other, partitions: ['1101'] }))).rejects.toThrow(RekapError);
    await expect(runSync(syncOptions(warehouse, url, { ...other, datasets: ['voters'] }))).rejects.toThrow(
      /figures from test/,
    );
    expect(await runSync(syncOptions(warehouse, url, other))).toMatchObject({ outcome: 'published' });
  });
});
