/** Errors of the file system and of DuckDB become messages for the user. Other errors stay unchanged. */

import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { RekapError } from '../../src/errors.ts';
import { explainFileError } from '../../src/warehouse/file-errors.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const explain = (error: unknown): unknown => explainFileError(error, '/data/warehouse');

function systemError(code: string, syscall = 'open', path?: string): Error {
  const errno = -Object.entries(constants.errno).find(([name]) => name === code)![1];
  return Object.assign(new Error(`${code}: from the system`), { code, syscall, errno, ...(path && { path }) });
}

const part = '/data/warehouse/landing';

it.each<[string, number, RegExp, readonly (Error | readonly [error: Error, named: RegExp])[]]>([
  [
    'disk-full',
    1,
    /oldest folders/,
    [
      [systemError('ENOSPC', 'write'), /\/data\/warehouse.*no space.*inode/],
      systemError('EDQUOT', 'write', part),
      new Error('IO Error: Could not write file: No space left on device'),
      new Error('IO Error: Disk quota exceeded'),
    ],
  ],
  [
    'disk-full',
    1,
    /ulimit -f/,
    [systemError('EFBIG', 'write'), new Error('IO Error: Could not write file: File too large')],
  ],
  [
    'out-of-memory',
    1,
    /--dataset/,
    [
      new Error('Out of Memory Error: failed to pin block of size 256.0 KiB (61.1 MiB/61.0 MiB used)'),
      new Error('Failed to append: could not allocate block of size 46.7 MiB'),
    ],
  ],
  [
    'warehouse',
    2,
    /permissions.*another folder/,
    [
      [systemError('EACCES', 'open', part), /not writable: permission denied \(EACCES\)\.$/],
      systemError('EPERM'),
      systemError('EROFS'),
      systemError('ENOENT', 'mkdir', '/proc/none'),
      [new Error('IO Error: Cannot open file: Permission denied'), /not writable\.$/],
    ],
  ],
  [
    'warehouse',
    2,
    /who else writes/,
    [
      [systemError('ENOENT', 'open', part), /^\/data\/warehouse\/landing disappeared/],
      [new Error('IO Error: Cannot open file "/data/f": No such file or directory'), /^\/data\/f disappeared/],
    ],
  ],
  [
    'warehouse',
    2,
    /another folder/,
    [
      systemError('ENOTDIR', 'mkdir', part),
      [systemError('EEXIST', 'mkdir', part), /^\/data\/warehouse\/landing is not a folder/],
      systemError('ELOOP'),
      systemError('ENAMETOOLONG'),
    ],
  ],
  [
    'file',
    1,
    /Check the disk/,
    [
      [systemError('EIO', 'fsync', part), /fsync \/data\/warehouse\/landing/],
      [new Error('IO Error: Cannot open file "/data/f": Input/output error'), /\/data\/warehouse.*\/data\/f/],
      new Error('FATAL Error: Failed to create checkpoint because of error: fsync failed!'),
    ],
  ],
  [
    'system-limit',
    1,
    /ulimit -n/,
    [
      systemError('EMFILE'),
      systemError('ENFILE'),
      new Error('IO Error: Cannot open file "/data/f": Too many open files'),
      new RekapError('warehouse', 'It cannot be read.', '', { cause: systemError('EMFILE') }),
      Object.assign(new Error("Cannot find package 'yargs'"), { code: 'ERR_MODULE_NOT_FOUND' }),
    ],
  ],
])('explains as %s, exit code %i, with the next step %s', (code, exitCode, next, errors) => {
  for (const one of errors) {
    const [error, named] = one instanceof Error ? [one, /./] : one;
    expect(explain(error), error.message).toMatchObject({
      code,
      exitCode,
      cause: error,
      message: expect.stringMatching(named),
      next: expect.stringMatching(next),
    });
  }
});

it('explains the real errors of paths where no folder can be created', async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'file'), '');
  await symlink('loop', join(folder, 'loop'));
  for (const place of ['file', 'file/below', 'a/b', 'loop/below', 'x'.repeat(300)]) {
    const error: unknown = await mkdir(join(folder, place)).catch((failure: unknown) => failure);
    expect(explain(error), place).toMatchObject({ code: 'warehouse' });
  }
});

it.each<unknown>([
  systemError('ENOENT'),
  systemError('EEXIST', 'open'),
  new TypeError('an internal error'),
  new RekapError('usage', 'no space left in this sentence'),
  'no space left',
  undefined,
])('leaves other errors unchanged: %s', (error) => {
  expect(explain(error)).toBe(error);
});
