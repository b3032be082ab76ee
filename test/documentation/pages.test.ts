/** Every command of README, tutorial and how-to guides runs and prints what the page shows. */

import { readFileSync, readdirSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { preparedWarehouse } from '../support/prepared-warehouse.ts';
import { runHere } from '../support/run-here.ts';
import { testKey } from '../support/sync-settings.ts';
import { serveFolder } from '../support/served-source.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { type Block, readBlocks } from './page-blocks.ts';
import { PageRunner } from './page-runner.ts';

const root = join(import.meta.dirname, '../..');
const guides = readdirSync(join(root, 'docs/how-to')).map((name) => `docs/how-to/${name}`);
const pages = ['README.md', 'docs/tutorial.md', 'docs/own-dataset.md', ...guides];

/** Why some blocks can't run here, by their first words. */
const notRun: Readonly<Record<string, string>> = {
  '$ make install': 'needs the registry of npm; `make package` runs it',
  'make install': 'needs the registry of npm; `make package` runs it',
  'rsync -a': 'needs a second machine',
  'rekap sync --base-url https://host --api-key-file api-key --metrics-file /var/lib':
    'writes to a folder of the system; test/notify/metrics.test.ts writes metrics',
  'TZ=Asia/Jakarta rekap schedule': 'never ends; test/end-to-end/schedule.test.ts runs it',
  'rekap push': 'needs a bucket; test/end-to-end/push.test.ts has one',
  'rekap sync --base-url https://host --api-key-file api-key --push': 'needs a bucket',
  'export AWS_ENDPOINT_URL_S3': 'needs a bucket',
  'rekap query "FROM turnout_by_province" --warehouse s3:': 'needs a bucket',
  'rekap pull': 'needs a bucket',
  'id=$(aws': 'needs a bucket, the CLI of AWS and jq',
  'pip install --target ~/.duckdb': 'needs a catalog; test/lake/lake.test.ts has one',
  'rekap lake': 'needs a catalog',
  'spark-sql': 'needs a catalog and Spark; test/spark/spark.test.ts has them',
  'export AWS_ACCESS_KEY_ID': 'needs Nessie and a bucket; test/lake/support.ts has them',
  'curl -s http://127.0.0.1:19120': 'needs Nessie',
  "curl -s 'http://127.0.0.1:19120": 'needs Nessie',
  'export REKAP_SNAPSHOT': 'needs dbt; `make readers` runs it',
  'rm -f src/.observablehq': 'needs Observable Framework, whose build downloads libraries',
};

/** Actions that the prose describes, by its words. */
const acts: Readonly<Record<string, (runner: PageRunner) => Promise<unknown>>> = {
  'Stop the service': (runner) => runner.stop('127.0.0.1:18080'),
  'Start the service again as in step 2': (runner) => runner.runBlock(tutorialServes),
  'run everything after the five time fields': (runner) => runner.run(cronLine),
};

const tutorial = readBlocks(readPage('docs/tutorial.md'));
const serveCommand = 'rekap serve --data figures --api-keys-file api-key --port 18080';
const tutorialServes = { language: 'sh', content: `${serveCommand}\n`, prose: '' };
const [, cronLine = ''] = /^(?:\S+ ){5}cd \S+ && (.*)$/m.exec(tutorial.map(({ content }) => content).join('\n')) ?? [];

/** A folder with a warehouse of the sample. */
const sample = preparedWarehouse(async (folder) => {
  const { code, stderr } = await runHere(['sync', '--sample'], { HOME: folder }, folder);
  if (code !== 0) throw new Error(stderr);
});

/** Pages that don't start with a warehouse of the sample. */
const withoutSample = new Set([
  'README.md',
  'docs/tutorial.md',
  'docs/own-dataset.md',
  'docs/how-to/add-a-dataset.md',
  'docs/how-to/declare-a-project.md',
  'docs/how-to/recover-from-a-failed-sync.md',
  'docs/how-to/schedule-a-sync.md',
]);

/** What else each page requires. */
const prepare: Readonly<Record<string, (runner: PageRunner) => Promise<unknown>>> = {
  // Its key is in a file.
  'docs/tutorial.md': async (runner) => void delete runner.variables['REKAP_API_KEY'],
  'docs/own-dataset.md': async (runner) => void delete runner.variables['REKAP_API_KEY'],
  // Each of the two pages has one file of the same project.
  'docs/how-to/add-a-dataset.md': (runner) => writeFirstFile(runner, 'docs/how-to/declare-a-project.md'),
  'docs/how-to/declare-a-project.md': async (runner) => {
    for (const page of ['docs/how-to/add-a-dataset.md', 'docs/how-to/declare-a-project.md'])
      await writeFirstFile(runner, page);
    const record = { RegionCode: 'A', StationNo: '1', Name: 'School', Seats: '20' };
    await runner.run(`mkdir figures && echo '${JSON.stringify([record])}' > figures/stations.json`);
    await runner.run(`echo '${testKey}' > api-key`);
    runner.useAddress('KEY=…', `KEY=${testKey}`);
    runner.useAddress('https://host', 'http://127.0.0.1:18080');
    await runner.runBlock(tutorialServes);
  },
  // The snapshots that the tutorial makes.
  'docs/how-to/recover-from-a-failed-sync.md': async (runner) => {
    runner.useAddress('https://host', 'http://127.0.0.1:18080');
    await cp(join(root, 'data/sample'), join(runner.folder, 'figures'), { recursive: true });
    await runner.run('echo "$REKAP_API_KEY" > api-key');
    for (const change of ['true', tutorial.find(({ content }) => content.startsWith('node -e'))!.content]) {
      await runner.run(change);
      await runner.runBlock(tutorialServes);
      await runner.run('rekap sync --base-url http://127.0.0.1:18080');
    }
  },
  'docs/how-to/schedule-a-sync.md': async (runner) => {
    await serveHost(runner);
    await runner.run("echo 'cat > published.json' > load-into-metabase.sh && chmod +x load-into-metabase.sh");
    for (let run = 1; run <= 2; run += 1) await runner.run('rekap sync --base-url https://host');
  },
  'docs/how-to/serve-the-data.md': async (runner) => {
    for (const folder of ['figures', 'DIR'])
      await cp(join(root, 'data/sample'), join(runner.folder, folder), { recursive: true });
  },
};

describe.each(pages)('%s', (page) => {
  const blocks = readBlocks(readPage(page));
  const runs = blocks.some((block) => !isLeftOut(block) && ['console', 'sh'].includes(block.language));

  it.runIf(runs)('prints what it shows', { timeout: 240_000 }, async () => {
    const folder = withoutSample.has(page) ? await temporaryFolder() : (await sample()).warehouse;
    const runner = await PageRunner.open(folder);
    await prepare[page]?.(runner);
    expect(await runBlocks(runner, blocks)).toBeGreaterThan(0);
  });
});

it('leaves out only blocks that are on a page', () => {
  const typed = pages.flatMap((page) => readBlocks(readPage(page)).map(({ content }) => content));
  for (const start of Object.keys(notRun))
    expect(
      typed.filter((text) => text.startsWith(start)),
      start,
    ).not.toEqual([]);
  for (const words of Object.keys(acts)) expect(readPage('docs/tutorial.md')).toContain(words);
  expect(cronLine).toMatch(/^rekap sync .* sync\.log/);
});

/** Follows a page, and returns how many commands ran. */
async function runBlocks(runner: PageRunner, blocks: readonly Block[]): Promise<number> {
  let commands = 0;
  for (const block of blocks) {
    for (const [words, act] of Object.entries(acts)) if (block.prose.includes(words)) await act(runner);
    if (!isLeftOut(block)) commands += await runner.runBlock(block);
  }
  return commands;
}

function isLeftOut({ content }: Block): boolean {
  return Object.keys(notRun).some((start) => content.startsWith(start));
}

/** Writes the file of the first TypeScript block on a page. */
async function writeFirstFile(runner: PageRunner, page: string): Promise<void> {
  await runner.runBlock(readBlocks(readPage(page)).find(({ language }) => language === 'ts')!);
}

/** Serves the sample in place of https://host. */
async function serveHost(runner: PageRunner): Promise<void> {
  runner.useAddress('https://host', (await serveFolder(join(root, 'data/sample'))).url);
}

function readPage(page: string): string {
  return readFileSync(join(root, page), 'utf8');
}
