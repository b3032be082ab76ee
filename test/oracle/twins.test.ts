/** All commands and pages print the numbers that facts.py computes from the stored responses. */

import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readSheet } from 'read-excel-file/node';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { loadProject } from '../support/bundled.ts';
import { openWarehouseSource } from '../../src/serve/warehouse-source.ts';
import { start } from '../serve/support.ts';
import { preparedWarehouse } from '../support/prepared-warehouse.ts';
import { runHere } from '../support/run-here.ts';
import { serveData, smallNation } from '../support/served-source.ts';
import { project, testKey } from '../support/sync-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { exportByQuery, noPython } from './recompute.ts';

beforeEach(({ skip }) => skip(noPython !== null, noPython ?? ''));

interface Facts {
  readonly rows: Readonly<Record<string, number>>;
  /** By `DATASET CHECK SEVERITY`. */
  readonly checks: Readonly<Record<string, number>>;
  readonly severities: Readonly<Record<string, number>>;
  readonly lists: readonly Row[];
}

type Row = Readonly<Record<string, unknown>>;

interface Ages {
  readonly new: number;
  readonly standing: number;
}

async function json<Value>(words: readonly string[], environment: Record<string, string> = {}): Promise<Value> {
  const { code, stdout, stderr } = await runHere(words, environment);
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as Value;
}

/** Two nights: in the second, one count is restated, one more is malformed, and one is repaired. */
const nights = preparedWarehouse(async (folder) => {
  const warehouse = join(folder, 'warehouse');
  const data = smallNation({ 1101: 6, 1102: 5 });
  const sync = async () => {
    const { url } = await serveData(data);
    const words = ['sync', '--base-url', url, '--accept-source', '--json', '--warehouse', warehouse];
    return json<{
      snapshot: string;
      broken_checks: { dataset: string; check: string; severity: string; count: number }[];
    }>(words, { REKAP_API_KEY: testKey });
  };
  data.datapemilihdpr[0]!['JumlahPemilihLakiLakiDalamDPK'] = 'x';
  data.datapemilihdpr[4]!['JumlahSeluruhPemilih'] = '31';
  const first = await sync();
  data.datapemilihdpr[0]!['JumlahPemilihLakiLakiDalamDPK'] = '10';
  data.datahakpilihdpr[2]!['JumlahSeluruhPenggunaHakPilih'] = 'y';
  data.datapemilihdpr[7]!['JumlahPemilihPerempuanDalamDPTb'] = '43';
  const second = await sync();
  const exports = join(folder, 'exports');
  await exportByQuery(warehouse, exports);
  const { stdout, stderr } = spawnSync('python3', [join(import.meta.dirname, 'facts.py'), warehouse, exports], {
    encoding: 'utf8',
  });
  if (stderr !== '') throw new Error(stderr);
  return { first: first.snapshot, second, facts: JSON.parse(stdout) as Facts };
});

/** What each severity has, old and new together. */
function severitiesOf(ages: Readonly<Record<string, Ages>>): Facts['severities'] {
  return Object.fromEntries(
    Object.entries(ages)
      .map(([severity, counts]) => [severity, counts.new + counts.standing] as const)
      .filter(([, count]) => count > 0),
  );
}

describe('the numbers computed from the responses', () => {
  it('are printed by sync, status, runs and snapshots', async () => {
    const { warehouse: folder, known } = await nights();
    const { second, facts } = known;
    const inside = ['--warehouse', join(folder, 'warehouse'), '--json'];
    expect(
      Object.fromEntries(
        second.broken_checks.map(({ dataset, check, severity, count }) => [`${dataset} ${check} ${severity}`, count]),
      ),
    ).toEqual(facts.checks);
    type Line = { rows: Facts['rows']; violation_ages: Record<string, Ages> };
    const { newest_success: status } = await json<{ newest_success: Line }>(['status', ...inside]);
    const [run] = await json<Line[]>(['runs', second.snapshot, ...inside]);
    for (const line of [status, run!])
      expect({ rows: line.rows, severities: severitiesOf(line.violation_ages) }).toEqual({
        rows: facts.rows,
        severities: facts.severities,
      });
    type Snapshot = {
      datasets: Record<string, { rows: number; violations: Record<string, number> }>;
      violation_ages: Record<string, Ages>;
    };
    const snapshot = await json<Snapshot>(['snapshots', 'current', ...inside]);
    expect(Object.fromEntries(Object.entries(snapshot.datasets).map(([name, { rows }]) => [name, rows]))).toEqual(
      facts.rows,
    );
    expect(severitiesOf(snapshot.violation_ages)).toEqual(facts.severities);
    const sums = Object.values(snapshot.datasets).flatMap(({ violations }) => Object.values(violations));
    const counted = Object.values(facts.checks);
    expect(sums.toSorted((a, b) => a - b)).toEqual(counted.toSorted((a, b) => a - b));
  });

  it('are returned by /health and /metrics', async () => {
    const { warehouse: folder, known } = await nights();
    const warehouse = join(folder, 'warehouse');
    const { pipelines } = project;
    const source = await openWarehouseSource(warehouse, pipelines);
    const site = { published: { warehouse, snapshot: source.snapshot! } };
    const service = await start({ pipelines, source, site });
    onTestFinished(() => source.close());
    const health = (await (await fetch(`${service.url}/health`)).json()) as { snapshot: string };
    expect(health.snapshot).toBe(known.second.snapshot);
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    for (const [dataset, rows] of Object.entries(known.facts.rows))
      expect(metrics).toContain(`rekap_rows{dataset="${dataset}"} ${rows}\n`);
    for (const [severity, count] of Object.entries(known.facts.severities)) {
      const found = [
        ...metrics.matchAll(new RegExp(`rekap_violations{severity="${severity}",age="(?:new|standing)"} (\\d+)`, 'g')),
      ];
      expect(found.reduce((sum, [, digits]) => sum + Number(digits), 0)).toBe(count);
    }
  });

  it('are returned by the examples of the shell', async () => {
    const { warehouse: folder, known } = await nights();
    // The oracle's other tests recompute these exports.
    const exported = async (view: string) =>
      JSON.parse(await readFile(join(folder, 'exports', `${view}.json`), 'utf8')) as Row[];
    const errors = (await exported('violations')).filter((row) => row['severity'] === 'error');
    const expected: Readonly<Record<string, readonly Row[]>> = {
      'FROM turnout_by_province;': await exported('turnout_by_province'),
      'SELECT list, sum(voters) AS voters, sum(users) AS users FROM fact_people GROUP BY ALL;': known.facts.lists,
      "SELECT regency, message FROM violations WHERE severity = 'error';": errors.map(({ regency, message }) => ({
        regency,
        message,
      })),
      'FROM data_quality WHERE errors > 0;': (await exported('data_quality')).filter(
        (row) => Number(row['errors']) > 0,
      ),
    };
    expect(Object.keys(expected)).toEqual(loadProject().examples);
    const inside = ['--warehouse', join(folder, 'warehouse'), '--format', 'json'];
    for (const [example, rows] of Object.entries(expected)) {
      expect(rows).not.toEqual([]);
      const found = await json<Row[]>(['query', example, ...inside]);
      expect(found.map((row) => JSON.stringify(row)).toSorted()).toEqual(
        rows.map((row) => JSON.stringify(row)).toSorted(),
      );
    }
  });

  it('are shown by diff, evidence and the workbook', async () => {
    const { warehouse: folder, known } = await nights();
    const warehouse = join(folder, 'warehouse');
    const voters = JSON.parse(await readFile(join(folder, 'exports', 'voters.json'), 'utf8')) as Record<
      string,
      unknown
    >[];
    const diff = JSON.stringify(await json(['diff', known.first, '--warehouse', warehouse, '--json']));
    expect(diff).toContain('"43"');
    const into = join(await temporaryFolder(), 'out');
    const { code, stdout } = await runHere(['export', '--out', into, '--warehouse', warehouse]);
    expect(code).toBe(0);
    const [head, ...rows] = await readSheet(stdout.split('\n')[0]!, 'voters');
    const sheet = rows.map((row) => Object.fromEntries(head!.map((name, at) => [String(name), row[at] ?? null])));
    expect(sheet).toEqual(voters);
    const regency = String(voters[0]!['regency']);
    type Evidence = { figures: { column: string; value: string }[] };
    const words = ['evidence', regency, '--dataset', 'voters', '--column', 'grand_total', '--warehouse', warehouse];
    const [evidence] = await json<Evidence[]>([...words, '--json']);
    expect(evidence!.figures).toMatchObject([{ column: 'grand_total', value: String(voters[0]!['grand_total']) }]);
  });
});
