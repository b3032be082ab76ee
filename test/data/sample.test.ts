/** The list of districts and the sample files are complete and reproducible, with only the documented faults. */

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { nationalDpt } from '../../data/sample/assumptions.ts';
import { parseDistricts } from '../../data/sample/districts.ts';
import { type CountColumn, type Fault, faults } from '../../data/sample/faults.ts';
import { formatRecords, makeRecords, type SampleRecord, sampleFileName } from '../../data/sample/records.ts';
import { sumChecks } from '../../src/project/declaration.ts';
import { voters, votingRightsUsers } from '../support/bundled.ts';

type Dataset = Fault['dataset'];

const pipelines = { voters, voting_rights_users: votingRightsUsers };
const datasets = ['voters', 'voting_rights_users'] as const;
const countColumns = Object.entries(voters.columns)
  .filter(([, { kind }]) => kind === 'count')
  .map(([name]) => name as CountColumn);

const districts = parseDistricts(readText('data/reference/dapil-2024.json'));
const made = makeRecords(districts);
const stored = {
  voters: JSON.parse(readText('data/sample/datapemilihdpr.json')) as SampleRecord[],
  voting_rights_users: JSON.parse(readText('data/sample/datahakpilihdpr.json')) as SampleRecord[],
};

describe('the districts of 2024', () => {
  it('are 84, with 514 regencies and 580 seats in 38 provinces', () => {
    const regencies = districts.flatMap((district) => district.regencies);
    expect(regencies).toHaveLength(514);
    expect(new Set(regencies).size).toBe(514);
    expect(districts.reduce((sum, { seats }) => sum + seats, 0)).toBe(580);
    expect(new Set(districts.map(({ province }) => province)).size).toBe(38);
    expect(new Set(districts.map(({ dapilName }) => dapilName)).size).toBe(84);
    const ids = districts.map(({ dapilId }) => dapilId);
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
  });

  it.each(['{}', '[1]', '[{"dapil_id":1101,"dapil_name":"ACEH I","seats":7,"province":"ACEH","regencies":[]}]'])(
    'are refused if the list is %s',
    (text) => {
      expect(() => parseDistricts(text)).toThrow(/list of districts/);
    },
  );
});

describe.each(datasets)('the sample of %s', (dataset) => {
  it('is reproduced by the generator', () => {
    const path = `data/sample/${sampleFileName(dataset)}`;
    expect(readText(path) === formatRecords(made[dataset]), `${path} is stale: run make sample`).toBe(true);
  });

  it("has a record for each regency, with the pipeline's fields as strings", () => {
    const expected = districts.flatMap(({ dapilId, dapilName, province, regencies }) =>
      regencies.map((regency) => ['2024', 'DPR-RI', String(dapilId), dapilName, province, regency]),
    );
    expect(stored[dataset].map((record) => Object.values(record).slice(0, 6))).toEqual(expected);
    const fields = Object.values(pipelines[dataset].columns).map(({ field }) => field);
    for (const record of stored[dataset]) {
      expect(Object.keys(record)).toEqual(fields);
      expect(Object.values(record).every((value) => typeof value === 'string')).toBe(true);
    }
  });
});

describe('the figures of the sample', () => {
  it('add up to the announced voters in the DPT', () => {
    expect(sumOf('voters', 'dpt_male')).toBe(nationalDpt.male);
    expect(sumOf('voters', 'dpt_female')).toBe(nationalDpt.female);
    expect(nationalDpt).toEqual({ male: 102_218_503, female: 102_588_719 });
  });

  it('have no more users than voters, except in the planted rows', () => {
    const planted = new Set(faults.map(({ regency }) => regency));
    const above = stored.voters.flatMap((record, index) =>
      countColumns
        .filter(
          (column) => (countIn('voting_rights_users', index, column) ?? 0) > (countIn('voters', index, column) ?? 0),
        )
        .map((column) => ({ regency: record['NamaKabupaten'] ?? '', column })),
    );
    expect(above.filter(({ regency }) => !planted.has(regency))).toEqual([]);
  });

  it('have a plausible turnout', () => {
    const turnout = (dapilId?: number): number =>
      sumOf('voting_rights_users', 'grand_total', dapilId) /
      (sumOf('voters', 'dpt_total', dapilId) + sumOf('voters', 'dpk_total', dapilId));
    expect(turnout()).toBeCloseTo(0.814, 2);
    expect(turnout(3102)).toBeCloseTo(0.692, 2);
    expect(turnout(1201)).toBeCloseTo(0.72, 2);
    const byDistrict = districts
      .map(({ dapilId }) => ({ dapilId, turnout: turnout(dapilId) }))
      .sort((a, b) => a.turnout - b.turnout);
    expect(byDistrict.slice(0, 2).map(({ dapilId }) => dapilId)).toEqual([3102, 1201]);
    expect(byDistrict.at(-1)?.turnout).toBeLessThan(1);
  });
});

describe('the planted faults', () => {
  it('are the only ones, and each breaks its check', () => {
    const expected = faults.map(
      (fault) => `${fault.dataset} ${fault.dapilId} ${fault.regency} ${fault.column} ${fault.noticedBy}`,
    );
    const noticed = datasets.flatMap((dataset) => stored[dataset].flatMap((_, index) => noticeIn(dataset, index)));
    expect(noticed.sort()).toEqual(expected.sort());
  });

  it('are all listed in the README', () => {
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

/** What the checks find wrong in one record: counts that do not parse, sums that fail, more users than voters on a list. */
function noticeIn(dataset: Dataset, index: number): string[] {
  const record = stored[dataset][index] ?? {};
  const place = `${dataset} ${record['IdDapil']} ${record['NamaKabupaten']}`;
  const found: string[] = [];
  for (const column of countColumns) {
    if (countIn(dataset, index, column) !== null) continue;
    found.push(
      `${place} ${column} ${record[pipelines[dataset].columns[column].field] === '' ? 'empty count' : 'malformed count'}`,
    );
  }
  for (const { name, parts, whole } of sumChecks(pipelines[dataset])) {
    const counts = parts.map((part) => countIn(dataset, index, part as CountColumn));
    const total = countIn(dataset, index, whole as CountColumn);
    if (total === null || counts.some((people) => people === null)) continue;
    if (counts.reduce<number>((sum, people) => sum + (people ?? 0), 0) !== total)
      found.push(`${place} ${whole} ${name}`);
  }
  if (dataset === 'voters') return found;
  for (const column of ['dpt_total', 'dptb_total', 'dpk_total', 'grand_total'] as const) {
    const listed = countIn('voters', index, column);
    const users = countIn(dataset, index, column);
    if (listed !== null && users !== null && users > listed) found.push(`${place} ${column} users above voters`);
  }
  return found;
}

function sumOf(dataset: Dataset, column: CountColumn, dapilId?: number): number {
  const counts = stored[dataset].map((record, index) =>
    dapilId === undefined || record['IdDapil'] === String(dapilId) ? countIn(dataset, index, column) : null,
  );
  return counts.reduce<number>((sum, people) => sum + (people ?? 0), 0);
}

function countIn(dataset: Dataset, index: number, column: CountColumn): number | null {
  const text = stored[dataset][index]?.[pipelines[dataset].columns[column].field] ?? '';
  return /^[0-9]+$/.test(text) ? Number(text) : null;
}

function readText(path: string): string {
  return readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
}
