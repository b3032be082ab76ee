/** What the commands say, word by word where the words matter: help, counts, and what to do after an interruption. */

import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { commands } from '../../src/cli/commands.ts';
import { ExitCode } from '../../src/errors.ts';
import { startFaultServer } from '../support/fault-server.ts';
import { preparedWarehouse } from '../support/prepared-warehouse.ts';
import { runCli, startCli } from '../support/run-cli.ts';
import { runHere } from '../support/run-here.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const withSample = preparedWarehouse((warehouse) => runHere(['sync', '--sample', '--warehouse', warehouse]));

/** A warehouse with the sample, from which just these partitions were read once more. */
async function syncSample(...partition: string[]): Promise<string> {
  const { warehouse } = await withSample();
  if (partition.length > 0) await runHere(['sync', '--sample', '--warehouse', warehouse, '--partition', ...partition]);
  return warehouse;
}

describe('help', () => {
  it('names every command, and every command shows examples', async () => {
    const { stdout, code } = await runHere(['--help']);
    expect(code).toBe(0);
    for (const command of ['sync', 'replay', 'query', 'diff', 'snapshots', 'serve']) {
      expect(stdout).toMatch(new RegExp(`^  ${command}( \\S+)* {2,}`, 'm'));
      if (command === 'snapshots') continue;
      expect((await runHere([command, '--help'])).stdout).toContain('Examples');
    }
  });

  it('of a command is complete, however it is requested', async () => {
    const whole = await runCli(['report', '--help']);
    for (const words of [['help'], ['--help=true'], ['-h'], ['--h']]) {
      const { stdout, code } = await runCli(['report', ...words]);
      expect(code).toBe(0);
      for (const shown of ['--warehouse', '--config', 'Examples']) {
        expect(whole.stdout).toContain(shown);
        expect(stdout).toContain(shown);
      }
    }
  });

  it('of a command is shown for "help" and its name, too', async () => {
    const { stdout, code } = await runHere(['help', 'report']);
    expect({ stdout, code }).toEqual({ stdout: (await runHere(['report', '--help'])).stdout, code: 0 });
    expect(await runHere(['help'])).toEqual(await runHere(['--help']));
  });

  it('prints its version and a completion script', async () => {
    expect((await runHere(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect((await runCli(['completion'], { SHELL: '/bin/bash' })).stdout).toContain('complete -o');
    expect((await runCli(['completion'], { SHELL: '/bin/zsh' })).stdout).toContain('#compdef rekap');
  });

  it('names every exit code', async () => {
    const { stdout } = await runHere(['--help']);
    const codes = /Exit codes: ([^.]*)\./.exec(stdout.replaceAll(/\s+/g, ' '))?.[1] ?? '';
    expect(codes.split(', ').map((code) => Number.parseInt(code, 10))).toEqual(Object.values(ExitCode));
  });

  it('of every command fits 80 and 100 columns, and lists each of its options', async () => {
    for (const { name, load } of commands) {
      const { stdout } = await runHere([...name.split(' '), '--help-all']);
      for (const option of Object.keys((await load()).options))
        expect(stdout).toMatch(new RegExp(`^  (-\\w, |    )--${option} `, 'm'));
      expect(stdout.split('\n').filter((line) => line.length > 100)).toEqual([]);
    }
  });
});

describe('counts', () => {
  it('of one row speak of a row', async () => {
    const warehouse = await syncSample();
    const out = join(await temporaryFolder(), 'one.csv');
    const query = ['query', 'SELECT 1 AS x', '--warehouse', warehouse];
    expect((await runHere([...query, '--format', 'csv', '--out', out])).stderr).toContain(`1 row written to ${out}\n`);
    expect((await runHere(query)).stdout).toContain('\n1 row\n');
  });
});

describe('an interruption', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)('of a sync by %s says how to go on', async (signal) => {
    const stalled = await startFaultServer(() => void (stalled.paths.length === 1 && running.child.kill(signal)));
    onTestFinished(() => stalled.close());
    const running = startCli(['sync', '--base-url', stalled.url, '--warehouse', await temporaryFolder(), '--json'], {
      REKAP_API_KEY: 'canary-key-0815',
    });
    onTestFinished(() => void running.child.kill('SIGKILL'));
    const { stderr, stdout } = await running.ended;
    expect(stderr).toContain('the same command with --resume');
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'interrupted' } });
  });
});

describe('a replay', () => {
  it('of a run that requested a part says what came from its answers, and what was carried over', async () => {
    const warehouse = await syncSample('1101', '1102');
    const { stdout } = await runHere(['replay', '--warehouse', warehouse]);
    expect(stdout).toMatch(
      /^Reproduced snapshot (\S+) from the responses of run \S+ \(46 rows\) and snapshot \1 \(982 rows carried over\), /,
    );
  });

  it('of a run that requested all says that its answers gave all', async () => {
    const { stdout } = await runHere(['replay', '--warehouse', await syncSample()]);
    expect(stdout).toMatch(
      /^Reproduced snapshot (\S+) from the responses of run \1, with the same figures and \d+ identical Parquet/,
    );
  });
});

describe('a diff', () => {
  it('in a warehouse with one snapshot says that there is only one', async () => {
    const warehouse = await syncSample();
    const { code, stderr } = await runHere(['diff', '--warehouse', warehouse]);
    expect(code).toBe(2);
    expect(stderr).toContain(`The warehouse ${warehouse} contains only one snapshot, `);
    expect(stderr).toContain('The next sync that finds changed figures publishes a second snapshot.');
    const id = /only one snapshot, ([^,]+),/.exec(stderr)![1]!;
    const same = await runHere(['diff', id, id, '--warehouse', warehouse]);
    expect(same).toMatchObject({ code: 0, stderr: '' });
    expect(same.stdout).toContain(`Changes from snapshot ${id} to ${id}\nNo figures changed.\n`);
  });
});
