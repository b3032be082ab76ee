/** How soon `rekap --help` and `--version` answer, and that they load none of the heavy modules. */

import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatDuration, median, type Finding } from './finding.ts';
import { command, timeNode } from './measure.ts';

const rounds = 15;
const heavy = ['@duckdb', 'apache-arrow', 'undici', 'fastify'];

export async function benchStartup(): Promise<Finding[]> {
  const bare: number[] = [];
  const help: number[] = [];
  const version: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    bare.push(await timeNode(['-e', '0']));
    help.push(await timeNode([command, '--help']));
    version.push(await timeNode([command, '--version']));
  }
  const section = 'startup';
  const reference = 'for node -e 0';
  const target = { atMost: 3 };
  const against = median(bare);
  const loaded = new Set([...(await heavyModules('--help')), ...(await heavyModules('--version'))]);
  return [
    { section, what: '--help', measured: median(help), against, reference, target, format: formatDuration },
    { section, what: '--version', measured: median(version), against, reference, target, format: formatDuration },
    {
      section,
      what: loaded.size === 0 ? 'heavy modules loaded' : `heavy modules loaded: ${[...loaded].join(', ')}`,
      measured: loaded.size,
      against: heavy.length,
      reference: `there are: ${heavy.join(', ')}`,
      target: { atMost: 0 },
      format: String,
    },
  ];
}

/** The heavy packages that a command loads, by the scripts that V8's own coverage lists. */
async function heavyModules(option: string): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'rekap-bench-'));
  try {
    await timeNode([command, option], { ...process.env, NODE_V8_COVERAGE: folder });
    const urls: string[] = [];
    for (const name of await readdir(folder)) {
      const coverage = JSON.parse(await readFile(join(folder, name), 'utf8')) as { result: { url: string }[] };
      urls.push(...coverage.result.map(({ url }) => url));
    }
    if (!urls.some((url) => url.endsWith('/cli/main.js'))) throw new Error(`The scripts of ${option} cannot be told.`);
    return heavy.filter((name) => urls.some((url) => url.includes(`/node_modules/${name}/`)));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
