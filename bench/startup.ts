/** How long `rekap --help` and `--version` take, and that they load no heavy modules. */

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { formatDuration, median, type Finding } from './finding.ts';
import { command, timeNode, withFolder } from './measure.ts';

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
  const target = { atMost: { must: 3, aim: 2 } };
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
      target: { atMost: { must: 0, aim: 0 } },
      format: String,
    },
  ];
}

/** Returns the heavy packages that a command loads, from the scripts in V8's coverage. */
async function heavyModules(option: string): Promise<string[]> {
  return withFolder(async (folder) => {
    await timeNode([command, option], { ...process.env, NODE_V8_COVERAGE: folder });
    const urls: string[] = [];
    for (const name of await readdir(folder)) {
      const coverage = JSON.parse(await readFile(join(folder, name), 'utf8')) as { result: { url: string }[] };
      urls.push(...coverage.result.map(({ url }) => url));
    }
    if (!urls.some((url) => url.endsWith('/cli/main.js'))) throw new Error(`V8 did not list the scripts of ${option}.`);
    return heavy.filter((name) => urls.some((url) => url.includes(`/node_modules/${name}/`)));
  });
}
