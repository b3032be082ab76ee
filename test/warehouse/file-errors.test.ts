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

it.each<[string, number, RegExp, readonly (readonly [error: Error, message: RegExp])[]]>([
  [
    'disk-full',
    1,
    /oldest folders|ulimit -f/,
    [
      [systemError('ENOSPC', 'write'), /\/data\/warehouse.*no space.*inode/],
      [systemError('EDQUOT', 'write', part), /no space/],
      [new Error('IO Error: Could not write file: No space left on device'), /no space/],
      [new Error('IO Error: Disk quota exceeded'), /no space/],
      [systemError('EFBIG', 'write'), /maximum file size/],
      [new Error('IO Error: Could not write file: File too large'), /maximum file size/],
    ],
  ],
  [
    'out-of-memory',
    1,
    /--dataset/,
    [
      [new Error('Out of Memory Error: failed to pin block of size 256.0 KiB (61.1 MiB/61.0 MiB used)'), /memory/],
      [new Error('Failed to append: could not allocate block of size 46.7 MiB'), /memory/],
    ],
  ],
  [
    'warehouse',
    2,
    /permissions.*another folder/,
    [
      [systemError('EACCES', 'open', part), /not writable: permission denied \(EACCES\)\.$/],
      [systemError('EPERM'), /not writable: operation not permitted/],
      [systemError('EROFS'), /not writable: read-only file system/],
      [systemError('ENOENT', 'mkdir', '/proc/none'), /not writable/],
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
      [systemError('ENOTDIR', 'mkdir', part), /\/data\/warehouse.* is not a folder/],
      [systemError('EEXIST', 'mkdir', part), /^\/data\/warehouse\/landing is not a folder/],
      [systemError('ELOOP'), /too many symbolic links/],
      [systemError('ENAMETOOLONG'), /name too long/],
    ],
  ],
  [
    'file',
    1,
    /Check the disk/,
    [
      [systemError('EIO', 'fsync', part), /fsync \/data\/warehouse\/landing/],
      [new Error('IO Error: Cannot open file "/data/f": Input/output error'), /\/data\/warehouse.*\/data\/f/],
      [new Error('FATAL Error: Failed to create checkpoint because of error: fsync failed!'), /fsync failed/],
    ],
  ],
  [
    'system-limit',
    1,
    /ulimit -n/,
    [
      [systemError('EMFILE'), /limit of open files/],
      [systemError('ENFILE'), /limit of open files/],
      [new Error('IO Error: Cannot open file "/data/f": Too many open files'), /limit of open files/],
      [new RekapError('warehouse', 'It cannot be read.', '', { cause: systemError('EMFILE') }), /limit of open files/],
      [Object.assign(new Error("Cannot find package 'yargs'"), { code: 'ERR_MODULE_NOT_FOUND' }), /yargs/],
    ],
  ],
])('explains as %s, exit code %i', (code, exitCode, next, errors) => {
  for (const [error, message] of errors)
    expect(explain(error), error.message).toMatchObject({
      code,
      exitCode,
      cause: error,
      message: expect.stringMatching(message),
      next: expect.stringMatching(next),
    });
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
