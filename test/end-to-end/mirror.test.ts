/** A published warehouse, served and synced again, gives the same tables: the round trip of a mirror. */

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { Project } from '../../src/project/declaration.ts';
import { date, text, timestamp } from '../../src/project/define.ts';
import { buildRecordSet, fixedSource, readRecord } from '../../src/serve/record-source.ts';
import { openWarehouseSource } from '../../src/serve/warehouse-source.ts';
import { acceptedBy, cases, itemsOf, projectOfAllKinds } from '../support/kind-cases.ts';
import { readRows } from '../support/read-table.ts';
import { runSync, serveData, serveSource, smallNation } from '../support/served-source.ts';
import { project, syncOptions } from '../support/sync-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const tables = ['voters', 'voting_rights_users', 'violations'];

/** A project with every kind of column, in inner objects, and a date and a time in the key. */
function nestedProject(): Project {
  const whole = projectOfAllKinds((index) => index % 2 === 0, {
    paging: { by: 'offset', limit: 'limit', offset: 'offset', hasMore: '/more' },
    reportedCount: '/count',
  });
  const [everything] = whole.pipelines as [Project['pipelines'][0]];
  const nested = Object.entries(everything.columns).map(([name, column]) =>
    name === 'id' ? [name, column] : [name, { ...column, field: `/inner/${name}` }],
  );
  const columns = {
    ...(Object.fromEntries(nested) as typeof everything.columns),
    day: date('day', 'Day.'),
    moment: timestamp('/at/moment', 'Moment.'),
    tag: text('/tags/0', 'First tag.'),
    late: text('/inner/late', 'In the first object, but declared last.'),
  };
  return {
    ...whole,
    auth: { header: 'x-api-key' },
    pipelines: [{ ...everything, columns, key: ['id', 'day', 'moment'] }],
  };
}

const dayOf = (row: number): string => new Date((row - 50) * 86_400_000).toISOString().slice(0, 10);

/** A record for each value that a kind of column accepts or refuses, and for null, empty and missing values. */
function recordsOfAllKinds(): string[] {
  const values = Object.values(cases).map((one) => [
    ...acceptedBy(one).map(([json]) => json),
    ...itemsOf(one.refused),
    'null',
    '""',
    String.raw`"half \ud800"`,
    '"twice","again":0',
  ]);
  const longest = Math.max(...values.map(({ length }) => length));
  return Array.from({ length: longest + 1 }, (_, row) => {
    const late = row % 3 === 0 ? `{"row": ${row}}` : '"late"';
    const tag = row % 3 === 0 ? String(row) : `"tag ${row}"`;
    const cells = values.flatMap((list, index) =>
      row < list.length ? [`"c${index}":${list[row]!.replace('again', `c${index}`)}`] : [],
    );
    const place = `"id":"${row % 7}","day":"${dayOf(row)}","at":{"moment":"1969-12-31T23:59:59.${String(row).padStart(6, '0')}Z"}`;
    return `{${place},"tags":{"0":${tag}},"inner":{${[`"late":${late}`, ...cells].join(',')}}}`;
  });
}

/** Without the landing, the mirror restores records from the tables. */
const dropLanding = (warehouse: string) => rm(join(warehouse, 'landing'), { recursive: true });

describe('a mirror', () => {
  it.each([
    ['as received', 'Asia/Jakarta'],
    ['restored', 'Asia/Jakarta'],
    ['restored', 'America/New_York'],
  ])('of every kind of value, %s, gives the same tables in %s', async (how, zone) => {
    vi.stubEnv('TZ', zone);
    const everything = nestedProject();
    const [pipeline] = everything.pipelines as [Project['pipelines'][0]];
    const records = recordsOfAllKinds();
    const set = buildRecordSet(
      records.map((record) => readRecord(record, pipeline)),
      new Date(0),
    );
    const served = await serveSource(fixedSource(new Map([['everything', set]])), undefined, everything);
    const [original, copy] = [await temporaryFolder(), await temporaryFolder()];
    await runSync(syncOptions(original, served.url), {}, everything);
    if (how === 'restored') await dropLanding(original);
    const mirror = await serveSource(await openWarehouseSource(original, everything.pipelines), undefined, everything);
    await runSync(syncOptions(copy, mirror.url), {}, everything);
    for (const table of ['everything', 'violations']) {
      const sql = `SELECT COLUMNS(*)::VARCHAR FROM ${table}`;
      const expected = await readRows(original, sql);
      expect(expected.length).toBeGreaterThanOrEqual(records.length);
      expect(await readRows(copy, sql)).toEqual(expected);
    }
  });

  it('gives each record as received, also a repeated one', async () => {
    const data = smallNation({ 1101: 4, 1102: 12 });
    const [first, second] = data.datapemilihdpr as [Record<string, unknown>, Record<string, unknown>];
    first['JumlahSeluruhPemilih'] = `00${String(first['JumlahSeluruhPemilih'])}`;
    second['unknown'] = [1, { two: 2 }];
    data.datapemilihdpr.splice(2, 0, { ...first });
    const original = await temporaryFolder();
    await runSync(syncOptions(original, (await serveData(data)).url));
    const mirror = await openWarehouseSource(original, project.pipelines);
    for (const pipeline of project.pipelines) {
      const { records, isReceived } = mirror.current(pipeline);
      const sent = data[pipeline.path.split('/').at(-1) as keyof typeof data];
      expect([isReceived, records]).toEqual([true, sent.map((record) => JSON.stringify(record))]);
    }
    await mirror.close();
    await dropLanding(original);
    const restored = await openWarehouseSource(original, project.pipelines);
    expect(restored.current(project.pipelines[0]!).isReceived).toBe(false);
    await restored.close();
  });

  it.each(['as received', 'restored'])(
    'of a source with every kind of doubtful value, %s, gives the same tables again',
    async (how) => {
      const data = smallNation({ 1101: 4, 1102: 12 });
      const [first, second, third, fourth] = data.datapemilihdpr as [
        Record<string, unknown>,
        Record<string, unknown>,
        Record<string, unknown>,
        Record<string, unknown>,
      ];
      first['JumlahSeluruhPemilih'] = '';
      second['JumlahSeluruhPemilih'] = null;
      delete third['JumlahSeluruhPemilih'];
      fourth['JumlahSeluruhPemilih'] = '1.234';
      fourth['JumlahPemilihLakiLakiDalamDPT'] = 7;
      first['NamaDapil'] = null;
      data.datahakpilihdpr.push(
        { IdDapil: '1102', note: 'no key' },
        { ...data.datahakpilihdpr[5]!, JumlahSeluruhPenggunaHakPilih: '5' },
        { note: 'a footer' },
      );
      const [original, copy] = [await temporaryFolder(), await temporaryFolder()];
      await runSync(syncOptions(original, (await serveData(data)).url));
      if (how === 'restored') await dropLanding(original);
      const mirror = await serveSource(await openWarehouseSource(original, project.pipelines));
      await runSync(syncOptions(copy, mirror.url));
      for (const table of tables) {
        const sql = `SELECT * FROM read_parquet('${join(original, 'current/parquet', table, `${table}.parquet`)}')`;
        const expected = await readRows(original, sql);
        expect(expected.length).toBeGreaterThan(0);
        expect(await readRows(copy, `FROM ${table}`)).toEqual(expected);
      }
      // Where in a page a quarantined record stood is the mirror's own.
      const quarantine = 'SELECT dataset, reason, record FROM quarantine ORDER BY ALL';
      expect(await readRows(copy, quarantine)).toEqual(await readRows(original, quarantine));
    },
  );
});
