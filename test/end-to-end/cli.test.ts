/** The built command line: the main way with the sample, and one clear message with its exit code for every kind of bad input. */

import { cp, mkdir, mkdtemp, readFile, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tmpdir } from 'node:os';
import { runCli, type CliResult } from '../support/run-cli.ts';
import { runHere } from '../support/run-here.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const key = 'canary-key-0815';
let folder: string;
let warehouse: string;
let first: CliResult;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rekap-cli-'));
  warehouse = join(folder, 'warehouse');
  first = await runCli(['sync', '--sample', '--warehouse', warehouse]);
});

afterAll(() => rm(folder, { recursive: true, force: true }));

describe('rekap sync --sample', () => {
  it('publishes and says what it did, on stdout, with the progress on stderr', () => {
    expect(first).toMatchObject({ code: 0 });
    expect(first.stdout).toMatch(/^Published snapshot \d{8}T\d{6}Z-[0-9a-f]{6} from the sample \(for testing only\)\./);
    expect(first.stdout).toMatch(/voters +84 +84 +514 +514 +0 +0 +514 +\d/);
    expect(first.stdout).toContain('OGAN ILIR');
    expect(first.stdout).toContain(join(warehouse, 'current', 'rekap.duckdb'));
    expect(first.stderr).toContain('voters: 84 of 84 partitions, 514 records');
    expect(first.stderr).not.toContain('Warning');
  });

  it('gives one JSON document with --json', async () => {
    const { stdout, code } = await runCli(['sync', '--sample', '--warehouse', warehouse, '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      outcome: 'unchanged',
      manifest: { source: 'sample', datasets: { voters: { rows: 514 } } },
    });
  });

  it("lets many requests be under way without a warning of Node's", async () => {
    const { code, stderr } = await runCli(['sync', '--sample', '--dry-run', '--concurrency', '16'], {
      REKAP_WAREHOUSE: join(folder, 'many'),
    });
    expect(code).toBe(0);
    expect(stderr).toContain('voters: 84 of 84 partitions');
    expect(stderr).not.toMatch(/warning/i);
  });

  it('takes options from the environment and a config file, the command line first', async () => {
    const config = join(folder, 'config.json');
    const elsewhere = join(folder, 'elsewhere');
    await writeFile(
      config,
      JSON.stringify({ warehouse: join(folder, 'ignored'), 'page-size': 50, 'dry-run': true, port: 1 }),
    );
    const { stdout, code } = await runHere(['sync', '--json', '--config', config], {
      REKAP_SAMPLE: 'true',
      REKAP_WAREHOUSE: elsewhere,
    });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      outcome: 'dry run',
      warehouse: elsewhere,
      figures: { requests: expect.any(Number) },
    });
    const overridden = await runHere(['sync', '--json', '--config', config, '--no-dry-run'], {
      REKAP_SAMPLE: '1',
      REKAP_WAREHOUSE: elsewhere,
    });
    expect(JSON.parse(overridden.stdout)).toMatchObject({ outcome: 'published' });
  });
});

describe('rekap query', () => {
  const query = (...words: string[]) => runHere(['query', ...words, '--warehouse', warehouse]);

  it('prints a table with the types set right', async () => {
    const { stdout } = await query(
      "SELECT sex, voters_dpt_compared FROM turnout_sums WHERE level = 'national' AND sex <> 'both' ORDER BY sex",
    );
    expect(stdout.split('\n').slice(0, 3)).toEqual([
      'sex     voters_dpt_compared',
      expect.stringMatching(/^female +\d+$/),
      expect.stringMatching(/^male +\d+$/),
    ]);
  });

  it('prints CSV and JSON', async () => {
    const sql = "SELECT 'a,b' AS x, NULL AS y, 2 AS z";
    expect((await query(sql, '--format', 'csv')).stdout).toBe('x,y,z\n"a,b",,2\n');
    expect(JSON.parse((await query(sql, '--format', 'json')).stdout)).toEqual([{ x: 'a,b', y: null, z: 2 }]);
  });

  it('prints JSON for --json too, unless a stronger place asks for another format', async () => {
    const sql = ['query', 'SELECT 1 AS x', '--warehouse', warehouse];
    expect(JSON.parse((await runHere([...sql, '--json'], { REKAP_FORMAT: 'csv' })).stdout)).toEqual([{ x: 1 }]);
    expect((await runHere([...sql, '--format', 'csv'], { REKAP_JSON: 'true' })).stdout).toBe('x\n1\n');
    const refused = await runHere(['query', 'SELEC', '--json', '--warehouse', warehouse]);
    expect(JSON.parse(refused.stdout)).toMatchObject({ error: { code: 'query', exit_code: 2 } });
  });

  it('writes a Parquet file', async () => {
    const out = join(folder, 'voters.parquet');
    expect(await query('FROM voters', '--format', 'parquet', '--out', out)).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(`514 rows written to ${out}\n`),
    });
    expect((await stat(out)).size).toBeGreaterThan(1000);
  });
});

describe('rekap snapshots', () => {
  it('lists, shows, verifies and rolls back', async () => {
    const own = join(folder, 'own');
    await cp(warehouse, own, { recursive: true, verbatimSymlinks: true });
    const [{ id }] = JSON.parse((await runHere(['snapshots', '--warehouse', own, '--json'])).stdout) as [
      { id: string },
    ];
    expect((await runHere(['snapshots', '--warehouse', own])).stdout).toMatch(new RegExp(`● current +${id}`));
    const { stdout: shown } = await runHere(['snapshots', 'current', '--warehouse', own]);
    expect(shown).toContain('from the sample (for testing only)');
    expect(shown).toContain('proved complete');
    expect((await runHere(['snapshots', 'verify', '--warehouse', own])).stdout).toContain('is intact');
    expect((await runHere(['snapshots', 'rollback', id, '--warehouse', own])).stdout).toContain(`${id} is now current`);
    await truncate(join(own, 'snapshots', id, 'parquet/voters/voters.parquet'), 100);
    const verified = await runHere(['snapshots', 'verify', '--warehouse', own]);
    expect(verified.code).toBe(1);
    expect(verified.stderr).toContain('parquet/voters/voters.parquet: 100 bytes');
  });
});

describe('bad input', () => {
  /** A failure for the user: its exit code, one message, what to do next, and never a stack. */
  function expectMessage(result: CliResult, code: number, ...parts: string[]): void {
    expect(result.stderr).not.toMatch(/\n\s+at |Error:.*\n.*node:/);
    expect(result.stderr).toMatch(/^(\S+Z )?rekap: /m);
    for (const part of parts) expect(result.stderr).toContain(part);
    expect(result.stderr + result.stdout).not.toContain(key);
    expect(result.code).toBe(code);
  }
  const withKey = { REKAP_API_KEY: key };

  it.each<[string, string[], string[]]>([
    ['an unknown option', ['sync', '--sample', '--wharehouse', 'x'], ['--wharehouse', 'Did you mean --warehouse?']],
    ['an unknown command', ['snyc'], ['snyc', 'sync']],
    ['an option of another command', ['diff', '--keep', '3'], ['Unknown option --keep for "rekap diff"']],
    ['a folder without a name', ['export', '--out', ''], ['--out requires a value']],
    ['a warehouse without a name', ['sync', '--sample', '--warehouse= '], ['--warehouse requires a value']],
    ['no source', ['sync'], ['source is missing', '--base-url', '--sample']],
    ['two formats', ['query', 'SELECT 1', '--json', '--format', 'csv'], ['cannot combine --format and --json']],
    ['two sources', ['sync', '--sample', '--base-url', 'https://x'], ['cannot combine']],
    [
      'neither yes nor no',
      ['sync', '--sample', '--dry-run=1'],
      ['--dry-run does not take the value "1"', '--no-dry-run'],
    ],
    ['an option in capitals', ['sync', '--sample', '--DRY-RUN'], ['option --DRY-RUN', 'Did you mean --dry-run?']],
    ['a value in capitals', ['sync', '--sample', '--page-Size=3'], ['option --page-Size', '--page-size']],
    ['a malformed URL', ['sync', '--base-url', 'ht!tp'], ['ht!tp', 'is not a URL']],
    ['a URL of another kind', ['sync', '--base-url', 'ftp://host'], ['ftp:']],
    ['a password in the URL', ['sync', '--base-url', `https://user:${key}@host`], ['password']],
    [
      'an endpoint in the URL',
      ['sync', '--base-url', 'https://host/v1/api/datahakpilihdpr/'],
      ['ends with the endpoint /api/datahakpilihdpr', '--base-url https://host/v1\n'],
    ],
    ['a number that is none', ['sync', '--sample', '--concurrency', 'many'], ['--concurrency', 'whole number']],
    ['a number out of range', ['sync', '--sample', '--keep', '0'], ['--keep']],
    ['an age that is none', ['sync', '--sample', '--max-duration', '0'], ['--max-duration']],
    ['a partition that is none', ['sync', '--sample', '--partition', 'aceh'], ['aceh', 'is not a value of dapil_id']],
    ['a dataset that is none', ['sync', '--sample', '--dataset', 'voter'], ['voter', 'voters and voting_rights_users']],
    ['a format that is none', ['query', 'SELECT 1', '--format', 'xml'], ['xml']],
    ['an option that needs another', ['query', 'SELECT 1', '--format', 'parquet'], ['--out']],
    ['nothing to serve', ['serve'], ['source to serve', '--sample']],
    ['no keys to accept', ['serve', '--data', 'data/sample'], ['REKAP_API_KEYS']],
    ['a fault that is none', ['serve', '--sample', '--faults', 'clmap=3'], ['clmap', 'Did you mean clamp?']],
    ['a fault whose value is none', ['serve', '--sample', '--faults', '429=5%'], ['429', '5%', 'rate']],
    ['a snapshots command that is none', ['snapshots', 'lst'], ['lst']],
  ])('of %s is exit 2', async (_name, words, parts) => {
    expectMessage(await runHere(words, withKey), 2, ...parts);
  });

  it('is not to name no command: that prints the overview', async () => {
    const { code, stdout, stderr } = await runHere([]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('rekap sync --sample');
  });

  it('of a folder to serve that holds no data is exit 2', async () => {
    expectMessage(await runHere(['serve', '--data', '/nonexistent'], { REKAP_API_KEYS: key }), 2, '/nonexistent');
  });

  it('of a missing or unusable key is exit 2', async () => {
    const sync = ['sync', '--base-url', 'http://127.0.0.1:9', '--warehouse', join(folder, 'none')];
    expectMessage(await runHere(sync), 2, 'REKAP_API_KEY');
    expectMessage(await runHere([...sync, '--api-key-file', '/nonexistent/key']), 2, '/nonexistent/key', 'ENOENT');
    const empty = join(folder, 'empty-key');
    await writeFile(empty, '\n');
    expectMessage(await runHere([...sync, '--api-key-file', empty]), 2, 'is empty');
    const long = join(folder, 'long-key');
    await writeFile(long, 'A'.repeat(2049));
    const refused = await runHere([...sync, '--api-key-file', long]);
    expectMessage(refused, 2, 'contains 2,049 characters');
    expect(refused.stderr).not.toContain('AAA');
    expectMessage(await runHere(sync, { REKAP_API_KEY: 'two words' }), 2, 'characters');
    expectMessage(await runHere(sync, { REKAP_API_KEY: 'key\\\\\\\\\\' }), 2, 'characters');
  });

  it('of a config file that is none is exit 2', async () => {
    const config = join(folder, 'bad.json');
    expectMessage(await runHere(['sync', '--config', '/nonexistent.json']), 2, 'cannot be read');
    for (const text of ['{', '{\n  "keep": 3,\n  partition: 1101\n}', '\n{"keep": 3} {}']) {
      await writeFile(config, text);
      expectMessage(await runHere(['sync', '--config', config]), 2, 'is not valid JSON');
    }
    await writeFile(config, '{"page_sizes": 3}');
    expectMessage(await runHere(['sync', '--config', config]), 2, 'Did you mean "page-size"?');
    await writeFile(config, JSON.stringify({ 'api-key': key }));
    expectMessage(await runHere(['sync', '--config', config]), 2, 'must not contain API keys');
  });

  it('of a port where nothing listens is exit 4, and leaves no key in the warehouse', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    await new Promise<void>((resolve) => server.close(() => resolve()));
    const result = await runHere(
      ['sync', '--base-url', `http://127.0.0.1:${port}/api`, '--warehouse', join(folder, 'unreached')],
      withKey,
    );
    expectMessage(result, 4, 'the connection was refused', `127.0.0.1:${port}`, 'warning: --base-url ends with /api');
    const lines = await readFile(join(folder, 'unreached', 'runs.jsonl'), 'utf8');
    expect(lines).toContain('"exit_code":4');
    expect(lines).not.toContain(key);
  });

  it('of a warehouse that is a file, or that cannot be written, is exit 2', async () => {
    const file = join(folder, 'a-file');
    await writeFile(file, '');
    expectMessage(await runHere(['sync', '--sample', '--warehouse', file]), 2, 'is not a folder');
    expectMessage(await runHere(['sync', '--sample', '--warehouse', '/proc/rekap']), 2, '/proc/rekap');
  });

  it('of a warehouse without a snapshot is exit 2 and says how to get one', async () => {
    const none = await temporaryFolder();
    for (const words of [
      ['query', 'SELECT 1'],
      ['snapshots', 'current'],
      ['snapshots', 'verify'],
    ]) {
      expectMessage(await runHere([...words, '--warehouse', none]), 2, 'rekap sync');
    }
  });

  it('of a damaged current is exit 2, for readers and for syncs', async () => {
    const damaged = await temporaryFolder();
    await mkdir(join(damaged, 'snapshots'));
    await mkdir(join(damaged, 'landing'));
    await symlink('snapshots/20260101T000000Z-000000', join(damaged, 'current'));
    for (const words of [
      ['query', 'SELECT 1'],
      ['sync', '--sample'],
    ]) {
      expectMessage(await runHere([...words, '--warehouse', damaged]), 2, '20260101T000000Z-000000', 'remove current');
    }
    await rm(join(damaged, 'current'));
    await writeFile(join(damaged, 'current'), 'x');
    expectMessage(await runHere(['query', 'SELECT 1', '--warehouse', damaged]), 2, 'not a symbolic link');
  });

  it('of SQL with an error is exit 2 and names it', async () => {
    const query = (sql: string) => runHere(['query', sql, '--warehouse', warehouse]);
    expectMessage(await query('SELEC 1'), 2, 'SELEC');
    expectMessage(await query('SELECT nothing FROM voters'), 2, 'nothing', 'DESCRIBE');
    expectMessage(await query('FROM voter'), 2, 'voter', 'SHOW TABLES');
    expectMessage(await query('SELECT 1; SELECT 2'), 2, '2 statements');
    expectMessage(await query('DROP TABLE voters'), 2, 'read');
    expectMessage(await query("SELECT * FROM read_text('/etc/hostname')"), 2, 'disabled by configuration');
  });

  it('of a snapshot that is none is exit 2', async () => {
    expectMessage(await runHere(['snapshots', '../../etc', '--warehouse', warehouse]), 2, 'not a snapshot ID');
    expectMessage(
      await runHere(['snapshots', 'rollback', '20200101T000000Z-000000', '--warehouse', warehouse]),
      2,
      'does not contain snapshot',
    );
    expectMessage(
      await runHere(['snapshots', 'rollback', '20200101T000000Z-000000', '--warehouse', join(folder, 'nowhere')]),
      2,
      'not a warehouse',
    );
  });

  it('of an output file in a folder that does not exist is exit 2', async () => {
    expectMessage(
      await runHere(['query', 'SELECT 1', '--format', 'csv', '--out', '/nonexistent/x.csv', '--warehouse', warehouse]),
      2,
      '/nonexistent/x.csv',
    );
  });
});
