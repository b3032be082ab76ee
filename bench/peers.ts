/**
 * rekap beside dlt and sling, from the same source. They read each record once and prove nothing; rekap reads it twice, stores every response,
 * and checks and verifies what it publishes.
 */

import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { formatDuration, median, type Finding, type Target } from './finding.ts';
import { GeneratedRecords } from './generated-records.ts';
import { measureSync } from './measure.ts';
import { concurrency, delay } from './nation.ts';
import { startSource } from './source-server.ts';

const run = promisify(execFile);
const records = 200_000;
const runs = 3;
const packages = ['dlt[duckdb,parquet]==1.31.0', 'duckdb==2.0.0', 'sling-linux-amd64==1.4.11'];
const dltScript = fileURLToPath(new URL('../../bench/peers/time_dlt.py', import.meta.url));
/** Runs a command, and prints the seconds that it takes on the clock and on all cores. */
const timeScript = `
import json, resource, subprocess, sys, time
began = time.monotonic()
done = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, capture_output=True, text=True)
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps({"code": done.returncode, "output": done.stdout + done.stderr,
  "milliseconds": 1000 * (time.monotonic() - began), "cpu": 1000 * (usage.ru_utime + usage.ru_stime)}))`;

interface Timed {
  readonly milliseconds: number;
  readonly cpu: number;
}

/** What a section reads: one long list whole, or both lists partition by partition. */
interface Work {
  readonly section: string;
  readonly records: number | null;
  readonly delay: number;
  readonly words: readonly string[];
  readonly partitions: readonly number[];
  /** Bounds by what is compared, such as "dlt, Parquet loader". */
  readonly bounds: Readonly<Record<string, Partial<Record<keyof Timed, Target>>>>;
}

const dapils = new GeneratedRecords('voters', null).dapils;
const works: readonly Work[] = [
  {
    section: `peers (${records.toLocaleString('en')} records)`,
    records: records * 2,
    delay: 0,
    words: ['--dataset', 'voters'],
    partitions: [],
    bounds: {
      'dlt, Parquet loader': { milliseconds: { atMost: { must: 0.43, aim: 0.33 } } },
      'dlt, pyarrow tables': { cpu: { atMost: { must: 1.4, aim: 1 } } },
    },
  },
  {
    section: `peers (${dapils.length} partitions × 2, ${delay} ms)`,
    records: null,
    delay,
    words: ['--concurrency', String(concurrency)],
    partitions: dapils,
    bounds: { 'sling, to CSV': { milliseconds: { atMost: { must: 1.2, aim: 1 } } } },
  },
];

export async function benchPeers(): Promise<Finding[]> {
  const folder = await mkdtemp(join(tmpdir(), 'rekap-peers-'));
  try {
    const venv = await makeEnvironment(folder);
    if (venv === null) return [];
    const findings: Finding[] = [];
    for (const work of works) findings.push(...(await compare(work, venv, folder)));
    return findings;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function compare(work: Work, venv: string, folder: string): Promise<Finding[]> {
  const source = await startSource(work);
  const python = join(venv, 'bin/python');
  const partitions = JSON.stringify(work.partitions);
  const time = (words: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Timed> => timeWith(python, words, env);
  const peers: Readonly<Record<string, (into: string) => Promise<Timed>>> = {
    'dlt, default': (into) => time([python, dltScript, source.url, into, 'insert_values', partitions]),
    'dlt, Parquet loader': (into) => time([python, dltScript, source.url, into, 'parquet', partitions]),
    'dlt, pyarrow tables': (into) => time([python, dltScript, source.url, into, 'arrow', partitions]),
    'sling, to CSV': async (into) => {
      await writeFile(join(into, 'spec.yaml'), slingSpec(source.url, work.partitions));
      await writeFile(
        join(into, 'env.yaml'),
        `connections: { service: { type: api, spec: 'file://${into}/spec.yaml' } }\n`,
      );
      const streams = work.partitions.length > 0 ? ['voters', 'voting_rights_users'] : ['voters'];
      await writeFile(
        join(into, 'replication.yaml'),
        `source: service\ntarget: local\ndefaults: { mode: full-refresh, object: 'file://${into}/{stream_name}.csv' }\nstreams: { ${streams.map((name) => `${name}: {}`).join(', ')} }\n`,
      );
      const words = [slingIn(venv), 'run', '--replication', join(into, 'replication.yaml')];
      return time(words, { SLING_HOME_DIR: into, SLING_TELEMETRY: 'false' });
    },
  };
  try {
    const ours: Timed[] = [];
    const theirs = new Map(Object.keys(peers).map((name): [string, Timed[]] => [name, []]));
    for (let turn = 0; turn < runs; turn += 1) {
      ours.push(await measureSync(source.url, work.words));
      for (const [name, load] of Object.entries(peers))
        // Some take minutes, so once is enough.
        if (turn === 0 || theirs.get(name)![0]!.milliseconds < 60_000)
          theirs.get(name)!.push(await load(await mkdtemp(join(folder, 'run-'))));
    }
    return [...theirs].flatMap(([name, timed]) =>
      (['milliseconds', 'cpu'] as const).map((figure) => ({
        section: work.section,
        what: `rekap sync, ${figure === 'cpu' ? 'CPU' : 'wall'} time, median of ${runs}`,
        measured: median(ours.map((each) => each[figure])),
        against: median(timed.map((each) => each[figure])),
        reference: `with ${name}`,
        target: work.bounds[name]?.[figure] ?? null,
        format: formatDuration,
      })),
    );
  } finally {
    await source.stop();
  }
}

async function timeWith(python: string, words: readonly string[], env: NodeJS.ProcessEnv): Promise<Timed> {
  const options = { maxBuffer: 2 ** 28, env: { ...process.env, ...env } };
  const { stdout } = await run(python, ['-c', timeScript, ...words], options);
  const done = JSON.parse(stdout) as Timed & { readonly code: number; readonly output: string };
  if (done.code !== 0) throw new Error(`${words.join(' ')} exited with ${done.code}:\n${done.output.slice(-2000)}`);
  return done;
}

function slingSpec(url: string, partitions: readonly number[]): string {
  const iterate = `iterate: { over: '${JSON.stringify(partitions.map(String))}', into: state.dapil, concurrency: ${concurrency} }`;
  const isWhole = partitions.length === 0;
  const endpoint = (name: string, path: string): string => `
  ${name}:
    ${isWhole ? '' : iterate}
    request: { url: '\${state.base_url}/${path}' }`;
  return `
name: service
defaults:
  state: { base_url: '${url}/api', offset: 0, limit: 1000 }
  request:
    rate: 1000
    concurrency: ${concurrency}
    headers: { x-api-key: bench }
    parameters: { offset: '\${state.offset}', limit: '\${state.limit}'${isWhole ? '' : ", id_dapil: '${state.dapil}'"} }
  pagination:
    next_state: { offset: '\${state.offset + state.limit}' }
    stop_condition: length(response.records) < state.limit
  response: { records: { jmespath: 'data[]' } }
endpoints:${endpoint('voters', 'datapemilihdpr')}${isWhole ? '' : endpoint('voting_rights_users', 'datahakpilihdpr')}
`;
}

function slingIn(venv: string): string {
  const [python] = readdirSync(join(venv, 'lib'));
  return join(venv, 'lib', python!, 'site-packages/sling_linux_amd64/bin/sling-linux-amd64');
}

/** Returns the folder of a virtual environment with the peers, REKAP_BENCH_VENV or a temporary one; null without Python 3. */
export async function makeEnvironment(temporary: string): Promise<string | null> {
  const folder = process.env['REKAP_BENCH_VENV'] ?? join(temporary, 'venv');
  if (existsSync(join(folder, 'bin/python'))) return folder;
  try {
    await run('python3', ['-m', 'venv', folder]);
  } catch {
    process.stderr.write('Python 3 is missing or cannot make a virtual environment, so the peers are not measured.\n');
    return null;
  }
  await run(join(folder, 'bin/python'), ['-m', 'pip', 'install', '--quiet', ...packages]);
  return folder;
}
