/** A canary for a key: whatever a source does with it, it stands in no file and is printed nowhere. */

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { RekapError } from '../../src/errors.ts';
import { systemClock } from '../../src/runtime/context.ts';
import { Secret } from '../../src/source/secret.ts';
import { startFaultServer, type FaultServer } from '../support/fault-server.ts';
import { filesWithWord, holdsWord } from '../support/find-word.ts';
import { readRows } from '../support/read-table.ts';
import { startCli } from '../support/run-cli.ts';
import { runHere } from '../support/run-here.ts';
import { runBundledSync, runSync, smallNation } from '../support/served-source.ts';
import { syncOptions } from '../support/sync-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { formsOf, startTwistedSource, type Twist } from '../support/twisted-source.ts';

const key = 'kAnary/Bird+Sings=47~x';

const echoes = formsOf(key);
const nation = smallNation({ 1101: 2, 1102: 1, 1103: 3 });
const startSource = (twist: Twist): Promise<FaultServer> => startTwistedSource(nation, twist);
const json = { 'content-type': 'application/json' };
const everywhere = { ...json, 'x-your-key': key, 'set-cookie': `key=${encodeURIComponent(key)}`, etag: `"${key}"` };

interface Scenario {
  readonly name: string;
  readonly twist: Twist;
  readonly exitCode: number;
  /** Settings besides the usual ones. */
  readonly strict?: boolean;
  /** Seconds. */
  readonly timeout?: number;
  /** Also through the command line. */
  readonly byHand?: boolean;
}

/** An answer with another status, whose body holds the key in every way. */
const refusing =
  (status: number): Twist =>
  (response) =>
    response
      .writeHead(status, everywhere)
      .end(JSON.stringify({ error: key, more: `<${echoes.join('> <')}>` }).replaceAll('\\\\u', '\\u'));

/** The honest answer with the echo in names, and in a field of its own. */
const echoing: Twist = (response, honest) => {
  let next = 0;
  const echo = (): string => echoes[(next += 1) % echoes.length]!;
  const body = honest
    .replace(/"NamaDapil":"([^"]*)"/g, (_, name: string) => `"NamaDapil":"${name} ${echoes[2]!}"`)
    .replace(
      /"NamaKabupaten":"([^"]*)"/g,
      (_, name: string) => `"NamaKabupaten":"${name} ${echoes[3]!}","${echo()}":"${echo()}"`,
    );
  response.writeHead(200, everywhere).end(body);
};

const scenarios: readonly Scenario[] = [
  { name: 'repeats the key in headers, names and fields', twist: echoing, exitCode: 0, byHand: true },
  ...[401, 404, 500].map((status) => ({
    name: `answers ${status}, with the key`,
    twist: refusing(status),
    exitCode: 4,
    byHand: status !== 404,
  })),
  {
    name: 'redirects to an address that holds the key',
    twist: (response) =>
      response.writeHead(302, { location: `/login/${encodeURIComponent(key)}/${echoes[5]!}` }).end(key),
    exitCode: 4,
  },
  {
    name: 'answers with a page of HTML that shows the key',
    twist: (response) =>
      response
        .writeHead(200, { 'content-type': 'text/html' })
        .end(`<html><h1>${key}</h1>${echoes.join('<br>')}</html>`),
    exitCode: 4,
  },
  {
    name: 'cuts its answers off behind the key',
    twist: (response, honest) =>
      response.writeHead(200, json).end(`${honest.slice(0, 12)}[{"NamaDapil":"${echoes.join(' ')}`),
    exitCode: 4,
  },
  {
    name: 'ends the connection behind the key',
    twist: (response) => {
      response.writeHead(200, { ...everywhere, 'content-length': '9999' });
      response.write(`{"count":1,"data":{"NamaDapil":"${key}`, () => response.destroy());
    },
    exitCode: 4,
  },
  {
    name: 'says nothing more behind the key',
    twist: (response) => response.writeHead(200, everywhere).write(`{"count":1,"data":{"NamaDapil":"${key}`),
    exitCode: 4,
    timeout: 1,
    byHand: true,
  },
  {
    name: 'breaks the rules of HTTP with the key',
    twist: (response) => response.socket?.end(`HTTP/1.1 200 ${key}\r\n${key}\r\nx: ${key}\r\n\r\n${key}`),
    exitCode: 4,
  },
  {
    name: 'breaks a check with the key where a number belongs, and is refused',
    twist: (response, honest) =>
      response.writeHead(200, json).end(honest.replaceAll(/"(JumlahTotal\w+LakiLaki)":"\d+"/g, `"$1":"${echoes[2]!}"`)),
    exitCode: 3,
    strict: true,
    byHand: true,
  },
];

const usual = ['--page-size', '2'];
const environment = { REKAP_API_KEY: key, REKAP_DEBUG: '1' };

async function expectNoKey(warehouse: string, ...texts: string[]): Promise<void> {
  expect(await filesWithWord(warehouse, key)).toEqual([]);
  expect(texts.filter((text) => holdsWord(text, key))).toEqual([]);
}

/** A sync by a program, and all that it is told. */
async function throughTheLibrary(url: string, { exitCode, strict = false, timeout = 5 }: Scenario): Promise<void> {
  const warehouse = await temporaryFolder();
  const told: unknown[] = [];
  const report = (event: unknown): void => void told.push(event);
  const options = { apiKey: new Secret(key), pageSize: 2, maxAttempts: 2, strict, timeout: timeout * 200 };
  const code = await runSync(syncOptions(warehouse, url, options), { report }).then(
    ({ manifest, warnings }) => {
      told.push(manifest, warnings);
      return 0;
    },
    (error: unknown) => {
      if (!(error instanceof RekapError)) throw error;
      told.push(error.message, error.next, error.stack);
      return error.exitCode;
    },
  );
  expect(code).toBe(exitCode);
  await expectNoKey(warehouse, JSON.stringify(told));
}

/** A sync by a person, and all that is printed. */
async function throughTheCommand(url: string, { exitCode, strict = false, timeout = 5 }: Scenario): Promise<void> {
  const warehouse = await temporaryFolder();
  vi.spyOn(systemClock, 'sleep').mockResolvedValue();
  const words = ['sync', '--base-url', url, '--warehouse', warehouse, '--timeout', String(timeout), ...usual, '--json'];
  const result = await runHere([...words, ...(strict ? ['--strict'] : [])], environment);
  expect(result.code, result.stderr).toBe(exitCode);
  expect(JSON.parse(result.stdout)).toHaveProperty(exitCode === 0 ? 'outcome' : 'error');
  await expectNoKey(warehouse, result.stdout, result.stderr);
}

describe('the search', () => {
  it('finds a word in every form, and in every file that a sync writes', async () => {
    const word = 'decoyBird/47';
    for (const form of [
      ...formsOf(word),
      ...[0, 1, 2].map((at) => Buffer.from(`${'-'.repeat(at)}${word}..`).toString('base64')),
    ])
      expect(holdsWord(`<${form}>`, word), form).toBe(true);
    const warehouse = await temporaryFolder();
    const { url } = await startSource((response, honest) => {
      response.end(
        honest
          .replaceAll('DAPIL 1101', `DAPIL ${formsOf(word)[2]!}`)
          .replace(/"JumlahSeluruh\w+":"\d+"/g, (field) => field.replace(/\d/, word)),
      );
    });
    const { run } = await runBundledSync(syncOptions(warehouse, url));
    expect(await filesWithWord(warehouse, word)).toEqual([
      `landing/${run}/bodies.gz`,
      `landing/${run}/verdicts.jsonl`,
      `snapshots/${run}/manifest.json`,
      ...[
        'voters',
        'voting_rights_users',
        'violations',
        'violations_log',
        'dim_dapil',
        'dim_regency',
        'regency_figures',
        'turnout',
        'turnout_by_dapil',
        'turnout_sums',
      ]
        .map((table) => `snapshots/${run}/parquet/${table}/${table}.parquet`)
        .toSorted(),
      `snapshots/${run}/rekap.duckdb`,
      `snapshots/${run}/report.html`,
    ]);
  });
});

describe('the key is in no file and no message when a source', () => {
  it.each(scenarios)('$name', async (scenario) => {
    const source = await startSource(scenario.twist);
    await throughTheLibrary(source.url, scenario);
    if (scenario.byHand === true) await throughTheCommand(source.url, scenario);
    // The key did go where it belongs, with every request.
    expect(source.headers.every((headers) => headers['x-api-key'] === key)).toBe(true);
  });

  it('sends it elsewhere: no redirect is followed, and the other host hears nothing', async () => {
    const elsewhere = await startFaultServer((_, response) => response.end('{}'));
    onTestFinished(() => elsewhere.close());
    const source = await startSource((response) =>
      response
        .writeHead(307, {
          ...everywhere,
          location: `${elsewhere.url}/${echoes.at(-2)}/${encodeURIComponent(key)}?key=${encodeURIComponent(key)}`,
        })
        .end(key),
    );
    const warehouse = await temporaryFolder();
    const result = await runHere(['sync', '--base-url', source.url, '--warehouse', warehouse, ...usual], environment);
    expect(result).toMatchObject({ code: 4, stderr: expect.stringContaining('it redirects to') });
    await expectNoKey(warehouse, result.stdout, result.stderr);
    expect(elsewhere.paths).toEqual([]);
  });

  it('is not there at all', async () => {
    const gone = await startFaultServer(() => {});
    await gone.close();
    const warehouse = await temporaryFolder();
    vi.spyOn(systemClock, 'sleep').mockResolvedValue();
    const result = await runHere(['sync', '--base-url', gone.url, '--warehouse', warehouse, '--json'], environment);
    expect(result.code).toBe(4);
    await expectNoKey(warehouse, result.stdout, result.stderr);
  });

  it.each([
    ['SIGKILL', null],
    ['SIGTERM', 143],
  ] as const)('is being read when %s ends the run', async (signal, code) => {
    const warehouse = await temporaryFolder();
    let requested = 0;
    let reached = (): void => {};
    const midway = new Promise<void>((resolve) => (reached = resolve));
    const source = await startSource((response, honest, request) => {
      requested += 1;
      // The first answers are landed; then the source keeps the run waiting.
      if (requested <= 6) echoing(response, honest, request);
      else reached();
    });
    const running = startCli(
      ['sync', '--base-url', source.url, '--warehouse', warehouse, ...usual, '--json'],
      environment,
    );
    await midway;
    running.child.kill(signal);
    const result = await running.ended;
    expect(result.code).toBe(code);
    await expectNoKey(warehouse, result.stdout, result.stderr);
  });
});

it('what stands in place of the key in the tables says so, and the run warns', async () => {
  const warehouse = await temporaryFolder();
  const { url } = await startSource(echoing);
  const { warnings } = await runSync(syncOptions(warehouse, url, { apiKey: new Secret(key) }));
  expect(warnings.filter((warning) => warning.includes('repeats the API key'))).toHaveLength(1);
  expect(await readRows(warehouse, 'SELECT DISTINCT dapil_name FROM voters ORDER BY ALL')).toEqual(
    [1101, 1102, 1103].map((partition) => ({ dapil_name: `DAPIL ${partition} [redacted]` })),
  );
});

it('a key in a file, in the arguments of a command that refuses them, or in a config file is not repeated', async () => {
  const folder = await temporaryFolder();
  await mkdir(join(folder, 'keys'));
  const file = join(folder, 'keys', 'api-key');
  const config = join(folder, 'keys', 'config.json');
  await writeFile(file, `${key}\nand more`);
  await writeFile(config, JSON.stringify({ 'api-key': key }));
  const base = ['sync', '--warehouse', join(folder, 'warehouse')];
  for (const words of [
    [...base, '--base-url', 'http://127.0.0.1:9', '--api-key-file', file],
    [...base, '--base-url', `http://user:${encodeURIComponent(key)}@127.0.0.1:9`],
    [...base, '--base-url', `http://127.0.0.1:9/?key=${encodeURIComponent(key)}`],
    [...base, '--config', config],
  ]) {
    const result = await runHere([...words, '--json'], { REKAP_DEBUG: '1' });
    expect(result.code).toBe(2);
    expect(holdsWord(result.stdout + result.stderr, key)).toBe(false);
  }
});
