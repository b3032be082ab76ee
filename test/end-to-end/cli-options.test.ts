/** Where options come from, which of them wins, and one clear message for those that are written wrongly. */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runHere } from '../support/run-here.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Nothing listens there: a sync that asks it ends with exit 4. */
const nowhere = 'http://127.0.0.1:9';
const key = { REKAP_API_KEY: 'canary-key-0815' };
const excluded = expect.stringContaining('cannot combine');

/** A config file with these options. */
async function writeConfig(options: unknown): Promise<string> {
  const file = join(await temporaryFolder(), 'config.json');
  await writeFile(file, JSON.stringify(options));
  return file;
}

describe('of options that exclude each other', () => {
  const asks = ['sync', '--max-duration', '1', '--warehouse'];

  it('the command line beats the environment', async () => {
    const folder = await temporaryFolder();
    const sample = ['sync', '--sample', '--dry-run', '--json', '--warehouse', folder];
    const { code, stdout } = await runHere(sample, { REKAP_BASE_URL: nowhere });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ manifest: { source: 'sample' } });
    const environment = { REKAP_SAMPLE: 'true', ...key };
    expect(await runHere([...asks, folder, '--base-url', nowhere], environment)).toMatchObject({
      code: 4,
      stderr: expect.stringMatching(/did not finish within 1 s|127\.0\.0\.1:9/),
    });
    const served = await runHere(['serve', '--data', '/nonexistent'], { REKAP_WAREHOUSE: folder, REKAP_API_KEYS: 'x' });
    expect(served.stderr).toContain('/nonexistent');
  });

  it('the command line beats the config file, and so does the environment', async () => {
    const folder = await temporaryFolder();
    const config = await writeConfig({ sample: true });
    expect(await runHere([...asks, folder, '--config', config, '--base-url', nowhere], key)).toMatchObject({ code: 4 });
    const environment = { REKAP_CONFIG: config, REKAP_BASE_URL: nowhere, ...key };
    expect(await runHere([...asks, folder], environment)).toMatchObject({ code: 4 });
  });

  it('a config file that cannot be read is named, with why', async () => {
    const folder = await temporaryFolder();
    const { code, stderr } = await runHere(['export', '--config', folder]);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining(`${folder} cannot be read: illegal operation on a directory (EISDIR).`),
    });
  });

  it('one that is negated puts nothing aside', async () => {
    const folder = await temporaryFolder();
    const environment = { REKAP_SAMPLE: 'true', REKAP_CONFIG: await writeConfig({ 'base-url': nowhere }), ...key };
    expect(await runHere([...asks, folder, '--no-sample'], environment)).toMatchObject({ code: 4 });
  });

  it.each<[string, Record<string, string>]>([
    ['REKAP_KEEP must be', { REKAP_KEEP: '0' }],
    ['REKAP_PARTITION "aceh" is no', { REKAP_PARTITION: 'aceh' }],
    ['REKAP_DATASET "voter" is no', { REKAP_DATASET: 'voter' }],
  ])('that is wrong is named where it was given: %s', async (said, environment) => {
    const { code, stderr } = await runHere(['sync', '--sample', '--warehouse', '/nonexistent'], environment);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(said) });
    const [[name, value]] = Object.entries(environment) as [[string, string]];
    const option = name.replace('REKAP_', '').toLowerCase();
    const config = await writeConfig({ [option]: option === 'keep' ? Number(value) : value });
    expect((await runHere(['sync', '--sample', '--config', config])).stderr).toContain(
      `"${option}" in the config file`,
    );
    const given = await runHere(['sync', '--sample', `--${option}`, value], environment);
    expect(given.stderr).toMatch(new RegExp(`rekap: --${option} `));
    expect(given.stderr).not.toContain('<command>');
  });

  it('two in one place are one too many', async () => {
    const environment = { REKAP_SAMPLE: 'true', REKAP_BASE_URL: nowhere };
    expect(await runHere(['sync'], environment)).toMatchObject({ code: 2, stderr: excluded });
    const config = await writeConfig({ sample: true, 'base-url': nowhere });
    expect(await runHere(['sync', '--config', config])).toMatchObject({ code: 2, stderr: excluded });
  });
});

describe('a failure', () => {
  const show = ['snapshots', 'current', '--warehouse', '/nonexistent'];
  const printed = (stdout: string): unknown => JSON.parse(stdout);
  const error = { error: { code: 'snapshot-not-found', exit_code: 2 } };

  it('is printed as JSON with --json', async () => {
    expect(printed((await runHere([...show, '--json'])).stdout)).toMatchObject(error);
    expect(printed((await runHere(show, { REKAP_JSON: 'true' })).stdout)).toMatchObject(error);
    const config = await writeConfig({ json: true });
    expect(printed((await runHere([...show, '--config', config])).stdout)).toMatchObject(error);
  });

  it('of another variable or of the command is told as JSON too', async () => {
    const unclear = await runHere(['sync', '--sample'], { REKAP_JSON: '1', REKAP_STRICT: 'maybe' });
    expect(printed(unclear.stdout)).toMatchObject({
      error: { message: 'REKAP_STRICT has the invalid value "maybe".' },
    });
    expect(printed((await runHere(['snyc'], { REKAP_JSON: '1' })).stdout)).toMatchObject({ error: { exit_code: 2 } });
  });

  it('is printed as JSON each time, also by one process', async () => {
    for (const _ of [1, 2]) expect(printed((await runHere([...show, '--json'])).stdout)).toMatchObject(error);
    expect((await runHere(['nonsense'])).stdout).toBe('');
  });

  it('is not where the command line says otherwise, or the command has no JSON to print', async () => {
    expect((await runHere([...show, '--no-json'], { REKAP_JSON: 'true' })).stdout).toBe('');
    expect((await runHere(['export', ...show.slice(2)], { REKAP_JSON: 'true' })).stdout).toBe('');
  });
});

describe('an empty variable', () => {
  it('is as good as none, also that of the config file', async () => {
    const environment = { REKAP_CONFIG: '', REKAP_WAREHOUSE: '', REKAP_JSON: '' };
    const { code, stderr } = await runHere(['export'], environment, await temporaryFolder());
    expect(code).toBe(2);
    expect(stderr).toContain('The warehouse data/warehouse does not contain a published snapshot.');
  });
});

describe('a mistyped variable', () => {
  it.each([
    ['REKAP_STRCT', 'REKAP_STRICT'],
    ['REKAP_WAREHOSE', 'REKAP_WAREHOUSE'],
    ['REKAP_APIKEY', 'REKAP_API_KEY'],
    ['REKAP_BASEURL', 'REKAP_BASE_URL'],
    ['REKAP_strict', 'REKAP_STRICT'],
    ['REKAP_CONCURENCY', 'REKAP_CONCURRENCY'],
  ])('%s is refused, whatever the command', async (typed, meant) => {
    for (const words of [['export'], ['sync', '--sample']]) {
      const { code, stderr } = await runHere(words, { [typed]: '1' }, await temporaryFolder());
      expect(stderr).toContain(`rekap: Unknown environment variable ${typed}.\n  Did you mean ${meant}?`);
      expect(code).toBe(2);
    }
    expect(await runHere(['export', '--help'], { [typed]: '1' })).toMatchObject({ code: 0 });
  });

  it.each([
    'REKAP_FOLDER_OF_MINE',
    'REKAP_HOME',
    'REKAP_PATH',
    'REKAP_DATABASE',
    'REKAP_ROOT',
    'REKAP_FAULT_SEEDS',
    'REKAP_API_KEYS',
    'REKAP_DEBUG',
    'STRCT',
    'REKAP_MAX_LIMIT',
  ])('%s is none, and keeps nobody from anything', async (name) => {
    const { stderr } = await runHere(['export'], { [name]: '1' }, await temporaryFolder());
    expect(stderr).toContain('does not contain a published snapshot');
  });
});

describe('an option of one value', () => {
  const query = ['query', 'SELECT 1'];
  const sync = ['sync', '--sample'];
  const serve = ['serve', '--sample'];

  it.each<[string, string[]]>([
    ['You gave --out twice.', [...query, '--out', 'a', '--out', 'b']],
    ['You gave --warehouse twice.', [...sync, '--warehouse', 'a', '--warehouse=b']],
    ['You gave --format 3 times.', [...query, '--format', 'csv', '--format', 'json', '--format', 'csv']],
    ['You gave --keep twice.', ['sync', '--keep', '1', '--keep', '2']],
    ['You gave --base-url twice.', ['sync', '--base-url', nowhere, '--base-url', nowhere]],
    ['--timeout requires a value.', [...sync, '--timeout']],
    ['--concurrency requires a value.', [...sync, '--concurrency', '--dry-run']],
    ['--warehouse requires a value.', ['sync', '--warehouse', '--sample']],
    ['--keep requires a value.', [...sync, '--keep=']],
    ['--port requires a value.', [...serve, '--port']],
    ['--host requires a value.', [...serve, '--host=']],
    ['--out requires a value.', [...query, '--out', '--format', 'csv']],
    ['--format requires a value.', [...query, '--format']],
    ['--config requires a value.', [...sync, '--config', '--json']],
    ['--partition requires a value.', [...sync, '--partition']],
    ['--dataset requires a value.', [...sync, '--dataset', '--dry-run']],
    ['--faults requires a value.', [...serve, '--faults']],
    ['Unknown option --no-warehouse.', [...sync, '--no-warehouse']],
    ['Unknown option --out.x for "rekap query".', [...query, '--out.x', 'a']],
  ])('%s', async (message, words) => {
    const { code, stderr } = await runHere(words, {}, await temporaryFolder());
    expect(stderr).toMatch(/^rekap: .*\n {2}\S.*\n$/);
    expect(stderr).toContain(`rekap: ${message}\n`);
    expect(code).toBe(2);
  });

  it('does not keep its help from those who ask for it', async () => {
    const help = await runHere([...query, '--warehouse', 'a', '--warehouse', 'b', '--format', '--help']);
    expect(help).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('rekap query [sql]') });
  });
});

describe('a config file', () => {
  it.each([
    ['warehouse', ['a', 'b'], 'a string'],
    ['sample', 'yes', 'true or false'],
    ['keep', [1, 2], 'a number'],
    ['partition', { a: 1 }, 'a list of strings'],
  ])('with %s %j is refused: it is not %s', async (name, value, kind) => {
    const config = await writeConfig({ [name]: value });
    const { code, stderr } = await runHere(['sync', '--config', config]);
    expect(code).toBe(2);
    expect(stderr).toContain(`"${name}" in the config file ${config} is not ${kind}.`);
  });

  it('may give numbers and lists as they are', async () => {
    const config = await writeConfig({ partition: [1101, '1102'], keep: 3, sample: true, 'dry-run': true });
    const { code, stderr } = await runHere(['sync', '--config', config, '--warehouse', await temporaryFolder()]);
    expect(stderr).toContain('voters: 2 of 2 partitions');
    expect(code).toBe(0);
  });
});

describe('an option that is a list', () => {
  const both = 'voters, voting_rights_users';
  const sample = ['sync', '--sample', '--dry-run', '--json'];

  it.each<[string, string[], Record<string, string>]>([
    ['the command line', ['--dataset', both, '--partition', ' 1101 , 1102,'], {}],
    ['the environment', [], { REKAP_DATASET: both, REKAP_PARTITION: '1101, 1102' }],
    ['a config file', ['--config'], {}],
  ])('may have blanks around its commas in %s', async (_place, words, environment) => {
    const config = words.includes('--config') ? [await writeConfig({ dataset: both, partition: '1101, 1102' })] : [];
    const requested = [...sample, ...words, ...config, '--warehouse', await temporaryFolder()];
    const { code, stdout, stderr } = await runHere(requested, environment);
    expect(stderr).toContain('voters: 2 of 2 partitions');
    expect(stderr).toContain('voting_rights_users: 2 of 2 partitions');
    expect(JSON.parse(stdout)).toMatchObject({ outcome: 'dry run' });
    expect(code).toBe(0);
  });

  it.each(['--dataset', '--partition'])('that names nothing is refused: %s', async (option) => {
    const { code, stderr } = await runHere([...sample, option, ' , ']);
    expect(stderr).toContain(`${option} requires a value`);
    expect(code).toBe(2);
  });

  it('may come again, and faults are one', async () => {
    const { code, stderr } = await runHere(['serve', '--sample', '--faults', 'drop=0.1', '--faults', 'drop=5%']);
    expect(code).toBe(2);
    expect(stderr).toContain('--faults contains drop twice.');
  });
});
