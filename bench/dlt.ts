/** dlt, a Python library, compared with rekap: both load the same records into DuckDB. rekap reads them twice and proves them complete. */

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { formatDuration, median, type Finding } from './finding.ts';
import { measureSync } from './measure.ts';
import { startSource } from './source-server.ts';

const run = promisify(execFile);
const records = 200_000;
const runs = 3;
const packages = ['dlt[duckdb,parquet]==1.31.0', 'duckdb==2.0.0'];
const script = fileURLToPath(new URL('../../bench/dlt_pipeline.py', import.meta.url));

/** The loaders of dlt, and how many times as long as rekap each takes. */
const loaders = [
  ['its default loader', 'insert_values', { must: 20, aim: 40 }],
  ['its Parquet loader', 'parquet', { must: 2.3, aim: 3 }],
] as const;

export async function benchDlt(): Promise<Finding[]> {
  const folder = await mkdtemp(join(tmpdir(), 'rekap-dlt-'));
  const source = await startSource({ records: records * 2, delay: 0 });
  try {
    const python = await makeEnvironment(folder);
    if (python === null) return [];
    const findings: Finding[] = [];
    for (const [name, format, atLeast] of loaders) {
      const theirs: number[] = [];
      const ours: number[] = [];
      for (let turn = 0; turn < runs; turn += 1) {
        ours.push((await measureSync(source.url, ['--dataset', 'voters'])).milliseconds);
        const began = performance.now();
        const into = await mkdtemp(join(folder, 'run-'));
        const { stdout } = await run(python, [script, source.url, into, format], { maxBuffer: 2 ** 26 });
        theirs.push(performance.now() - began);
        if (Number(stdout.trim().split('\n').at(-1)) !== records)
          throw new Error(`dlt did not load ${records} rows: ${stdout}`);
      }
      findings.push({
        section: `dlt (${records.toLocaleString('en')} records)`,
        what: `${name}, wall time, median of ${runs}`,
        measured: median(theirs),
        against: median(ours),
        reference: 'for rekap sync',
        target: { atLeast },
        format: formatDuration,
      });
    }
    return findings;
  } finally {
    await source.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Returns the Python of a virtual environment with dlt, in the folder REKAP_BENCH_VENV or in a temporary one; null without Python 3. */
async function makeEnvironment(temporary: string): Promise<string | null> {
  const folder = process.env['REKAP_BENCH_VENV'] ?? join(temporary, 'venv');
  const python = join(folder, 'bin', 'python');
  if (existsSync(python)) return python;
  try {
    await run('python3', ['-m', 'venv', folder]);
  } catch {
    process.stderr.write('Python 3 is missing or cannot make a virtual environment, so dlt is not measured.\n');
    return null;
  }
  await run(python, ['-m', 'pip', 'install', '--quiet', ...packages]);
  return python;
}
