/** The list of districts and the sample files are complete and reproducible. test/oracle checks their figures and violations. */

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { nationalDpt } from '../../data/sample/assumptions.ts';
import { parseDistricts } from '../../data/sample/districts.ts';
import { faults } from '../../data/sample/faults.ts';
import { formatRecords, makeRecords, type SampleRecord, sampleFileName } from '../../data/sample/records.ts';
import { voters, votingRightsUsers } from '../support/bundled.ts';
import { sampleWarehouse } from '../support/prepared-warehouse.ts';
import { readRows } from '../support/read-table.ts';

const pipelines = { voters, voting_rights_users: votingRightsUsers };
const datasets = ['voters', 'voting_rights_users'] as const;
const readText = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

const districts = parseDistricts(readText('data/reference/dapil-2024.json'));
const made = makeRecords(districts);
const stored = {
  voters: JSON.parse(readText('data/sample/datapemilihdpr.json')) as SampleRecord[],
  voting_rights_users: JSON.parse(readText('data/sample/datahakpilihdpr.json')) as SampleRecord[],
};

describe('the districts of 2024', () => {
  it('are 84, with 514 regencies and 580 seats in 38 provinces', () => {
    expect(new Set(districts.flatMap(({ regencies }) => regencies)).size).toBe(514);
    expect(districts.reduce((sum, { seats }) => sum + seats, 0)).toBe(580);
    expect(new Set(districts.map(({ province }) => province)).size).toBe(38);
    const ids = districts.map(({ dapilId }) => dapilId);
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
    expect(ids).toHaveLength(84);
  });

  it.each(['{}', '[1]', '[{"dapil_id":1101,"dapil_name":"ACEH I","seats":7,"province":"ACEH","regencies":[]}]'])(
    'are refused if the list is %s',
    (text) => {
      expect(() => parseDistricts(text)).toThrow(/list of districts/);
    },
  );
});

describe('the sample', () => {
  it.each(datasets)("of %s is reproduced by the generator, with the pipeline's fields as strings", (dataset) => {
    const path = `data/sample/${sampleFileName(dataset)}`;
    expect(readText(path) === formatRecords(made[dataset]), `${path} is stale: run make sample`).toBe(true);
    const fields = Object.values(pipelines[dataset].columns).map(({ field }) => field);
    for (const record of stored[dataset]) {
      expect(Object.keys(record)).toEqual(fields);
      expect(Object.values(record).every((value) => typeof value === 'string')).toBe(true);
    }
  });

  it('has the announced voters, a plausible turnout, and violations only where faults are planted', async () => {
    const { warehouse } = await sampleWarehouse();
    const sums = 'SELECT sum(dpt_male)::INTEGER AS male, sum(dpt_female)::INTEGER AS female FROM voters';
    expect(await readRows(warehouse, sums)).toEqual([nationalDpt]);
    expect(nationalDpt).toEqual({ male: 102_218_503, female: 102_588_719 });
    const rates = `SELECT dapil_id, users_per_dpt_and_dpk_pct_with_contradicting AS pct FROM turnout_by_dapil
      ORDER BY pct`;
    const found = await readRows<{ dapil_id: number; pct: number }>(warehouse, rates);
    expect(found.slice(0, 2).map(({ dapil_id }) => dapil_id)).toEqual([3102, 1201]);
    expect(found.at(-1)!.pct).toBeLessThan(100);
    const errors = "SELECT DISTINCT dapil_id, regency FROM violations WHERE severity = 'error' ORDER BY ALL";
    const planted = faults.map(({ dapilId, regency }) => `${dapilId} ${regency}`);
    const broken = (await readRows<{ dapil_id: number; regency: string }>(warehouse, errors)).map(
      ({ dapil_id, regency }) => `${dapil_id} ${regency}`,
    );
    expect(broken.length).toBeGreaterThan(0);
    expect(planted).toEqual(expect.arrayContaining(broken));
  });

  it('has all planted faults in its README', () => {
    const rows = faults.map((fault) => {
      const { path, columns } = pipelines[fault.dataset];
      const { field } = columns[fault.column];
      const record = stored[fault.dataset].find((row) => row['NamaKabupaten'] === fault.regency);
      const figure = [`\`${field}\``, `\`"${record?.[field]}"\``];
      const cells = [path.replace('/api/', ''), fault.dapilId, fault.regency, ...figure, fault.noticedBy];
      return `| ${cells.join(' | ')} |`;
    });
    const listed = readText('data/sample/README.md').match(/^\| data(pemilih|hakpilih)dpr \|.*$/gm);
    expect(listed?.toSorted()).toEqual(rows.toSorted());
  });
});
