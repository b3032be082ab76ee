/** What the file system says about a warehouse becomes a message for its user; what is none of its files' business stays as it was. */

import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { RekapError } from '../../src/errors.ts';
import { explainFileError, lacksInodes } from '../../src/warehouse/file-errors.ts';

const systemError = (code: string, syscall = 'open', message = `${code}: from the system`): Error =>
  Object.assign(new Error(message), {
    code,
    syscall,
    errno: -Object.entries(constants.errno).find(([name]) => name === code)![1],
  });
const explain = (error: unknown): unknown => explainFileError(error, '/data/warehouse');

it.each([
  'Out of Memory Error: failed to pin block of size 256.0 KiB (61.1 MiB/61.0 MiB used)',
  'Failed to append: could not allocate block of size 46.7 MiB (264.0 KiB/45.7 MiB used)',
])('a bound on memory that DuckDB comes up against is named, with what asks for less: %s', (message) => {
  const error = new Error(message);
  expect(explain(error)).toMatchObject({ code: 'out-of-memory' });
  expect(explain(error)).toMatchObject({ cause: error, exitCode: 1, next: expect.stringContaining('--dataset') });
});

it.each([
  systemError('EMFILE'),
  systemError('ENFILE'),
  new Error('IO Error: Cannot open file "/data/warehouse/current/rekap.duckdb": Too many open files'),
  new RekapError('warehouse', 'The file cannot be read.', '', { cause: systemError('EMFILE') }),
  Object.assign(new Error('fetch failed'), { cause: new AggregateError([systemError('EMFILE')]) }),
  Object.assign(new Error("Cannot find package 'yargs'"), { code: 'ERR_MODULE_NOT_FOUND' }),
])('too few open files are named wherever they are met, with what allows more: %s', (error) => {
  expect(explain(error)).toMatchObject({ code: 'system-limit' });
  expect(explain(error)).toMatchObject({ cause: error, exitCode: 1, next: expect.stringContaining('ulimit -n') });
});

it.each([
  ['no inodes at all', { files: 1000, ffree: 0, blocks: 1000, bavail: 600 }, true],
  ['those alone that the failed run has freed', { files: 1000, ffree: 12, blocks: 1000, bavail: 600 }, true],
  ['no blocks', { files: 1000, ffree: 900, blocks: 1000, bavail: 0 }, false],
  ['no blocks, on a file system that counts no inodes', { files: 0, ffree: 0, blocks: 1000, bavail: 100 }, false],
])('a full disk that has %s left lacks inodes, or does not', (_what, left, expected) => {
  expect(lacksInodes('/data', () => ({ type: 0, bsize: 4096, bfree: left.bavail, ...left }))).toBe(expected);
});

describe('a failure of the disk', () => {
  it.each([
    systemError('ENOSPC', 'write'),
    systemError('EDQUOT', 'write'),
    new Error('IO Error: Could not write file: No space left on device'),
    new Error('IO Error: Disk quota exceeded'),
  ])('is a disk that is full: %s', (error) => {
    expect(explain(error)).toMatchObject({ code: 'disk-full' });
    expect(explain(error)).toMatchObject({ cause: error, message: expect.stringContaining('/data/warehouse') });
  });

  it.each([
    [systemError('EACCES'), ': permission denied (EACCES)'],
    [systemError('EPERM'), ': operation not permitted (EPERM)'],
    [systemError('EROFS'), ': read-only file system (EROFS)'],
    [systemError('ENOENT', 'mkdir'), ': no such file or directory (ENOENT)'],
    [new Error('IO Error: Cannot open file: Permission denied'), ''],
    [new Error('IO Error: Read-only file system'), ''],
  ])('is a folder that cannot be written: %s', (error, why) => {
    expect(explain(error)).toMatchObject({ code: 'warehouse' });
    expect(explain(error)).toMatchObject({
      cause: error,
      message: `The warehouse /data/warehouse is not writable${why}.`,
    });
  });

  it.each([systemError('ENOTDIR'), systemError('ENOTDIR', 'mkdir'), systemError('EEXIST', 'mkdir')])(
    'is a file in the place of a folder: %s',
    (error) => {
      expect(explain(error)).toMatchObject({ code: 'warehouse' });
      expect(explain(error)).toMatchObject({ cause: error, message: expect.stringContaining('not a folder') });
    },
  );

  it('is a file in the place of a part of the warehouse, which is named', () => {
    const error = Object.assign(systemError('EEXIST', 'mkdir'), { path: '/data/warehouse/landing' });
    expect(explain(error)).toMatchObject({
      message: expect.stringMatching(/^\/data\/warehouse\/landing, .* not a folder/),
      next: expect.stringContaining('Move it away'),
    });
    // The system names the folder that it cannot make, not the file in its way.
    const below = Object.assign(systemError('ENOTDIR', 'mkdir'), { path: '/data/warehouse/snapshots' });
    expect(explain(below)).toMatchObject({ message: 'The warehouse /data/warehouse is not a folder.' });
  });

  it.each([
    ['ELOOP', 'leads to itself'],
    ['ENAMETOOLONG', 'is longer than'],
  ])('is a path that cannot be: %s', (code, said) => {
    const error = systemError(code);
    expect(explain(error)).toMatchObject({ code: 'warehouse' });
    expect(explain(error)).toMatchObject({ cause: error, message: expect.stringContaining(said) });
  });

  it.each([
    Object.assign(systemError('EIO', 'fsync'), { path: '/data/warehouse/runs.jsonl' }),
    new Error('IO Error: Cannot open file "/data/warehouse/current/rekap.duckdb": Input/output error'),
    new Error(
      'TransactionContext Error: Failed to commit: Could not write file "/data/warehouse/w.wal": Input/output error',
    ),
    new Error('FATAL Error: Failed to create checkpoint because of error: fsync failed!'),
  ])('is a disk that is broken, with the file where it is known: %s', (error) => {
    expect(explain(error)).toMatchObject({ code: 'file' });
    expect(explain(error)).toMatchObject({
      cause: error,
      exitCode: 1,
      message: expect.stringContaining('/data/warehouse'),
    });
  });

  it('is explained as the system really words it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'rekap-errors-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    await writeFile(join(folder, 'file'), '');
    await symlink('loop', join(folder, 'loop'));
    const failures = [
      mkdir(join(folder, 'file')),
      mkdir(join(folder, 'file', 'below')),
      mkdir(join(folder, 'a', 'b')),
      mkdir(join(folder, 'loop', 'below')),
      mkdir(join(folder, 'x'.repeat(300))),
    ];
    const errors = await Promise.all(
      failures.map((failure) =>
        failure.then(
          () => null,
          (error: unknown) => error,
        ),
      ),
    );
    for (const error of errors) expect(explain(error)).toMatchObject({ code: 'warehouse' });
  });
});

describe('any other failure', () => {
  it.each<unknown>([
    systemError('ENOENT'),
    systemError('EEXIST', 'open'),
    new TypeError('a fault of ours'),
    new RekapError('usage', 'no space left in this sentence'),
    'no space left',
    null,
    undefined,
  ])('stays what it was: %s', (error) => {
    expect(explain(error)).toBe(error);
  });

  it('keeps a message that was already one', () => {
    const known = new RekapError('warehouse', 'permission denied', 'Do this.');
    expect(explain(known)).toBe(known);
    expect(known).toBeInstanceOf(RekapError);
  });
});
