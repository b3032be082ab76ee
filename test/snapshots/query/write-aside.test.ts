/** A file is written aside and stands at its name only when it is whole; where it cannot be, the message says why. */

import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { writeAside } from '../../../src/snapshots/query/write-aside.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

describe('writing aside', () => {
  it('shows the target only when it is whole, and gives what the writer gives', async () => {
    const target = join(await temporaryFolder(), 'target');
    const value = await writeAside(target, async (aside) => {
      await writeFile(aside, 'whole');
      await expect(stat(target)).rejects.toThrow(/ENOENT/);
      return 7;
    });
    expect(value).toBe(7);
    expect(await readFile(target, 'utf8')).toBe('whole');
  });

  /** What writing gives that fails half-way with this error; the folder is looked at afterwards. */
  async function failWith(failure: Error): Promise<{ readonly target: string; readonly thrown: unknown }> {
    const folder = await temporaryFolder();
    const target = join(folder, 'target');
    await writeFile(target, 'before');
    const failing = writeAside(target, async (aside) => {
      await writeFile(aside, 'half');
      throw failure;
    });
    const thrown = await failing.then(
      () => null,
      (caught: unknown) => caught,
    );
    expect(await readdir(folder)).toEqual(['target']);
    expect(await readFile(target, 'utf8')).toBe('before');
    return { target, thrown };
  }
  const systemError = (code: string): Error => Object.assign(new Error(`${code}: from the system`), { code });

  it('passes the failure of the writer on and removes what it wrote', async () => {
    const own = new Error('of its own');
    expect((await failWith(own)).thrown).toBe(own);
  });

  it.each([
    [systemError('ENOSPC'), 'The disk is full: no space is left for'],
    [systemError('EDQUOT'), 'The disk is full: no space is left for'],
    [
      new Error('IO Error: Could not write file "x": No space left on device'),
      'The disk is full: no space is left for',
    ],
    [systemError('EFBIG'), 'would exceed the maximum file size of this system'],
  ])('says that the disk is full, with the exit code for it: %s', async (error, words) => {
    const { target, thrown } = await failWith(error);
    expect(thrown).toMatchObject({ code: 'disk-full' });
    expect(thrown).toMatchObject({ exitCode: 1, cause: error, message: expect.stringContaining(words) });
    expect(thrown).toMatchObject({ message: expect.stringContaining(target) });
  });

  it('says that another name is needed where the system refuses this one', async () => {
    const { thrown } = await failWith(systemError('EACCES'));
    expect(thrown).toMatchObject({ code: 'usage' });
    expect(thrown).toMatchObject({ next: 'Choose another file.' });
  });

  it('says so too where the folder is a file', async () => {
    const file = join(await temporaryFolder(), 'file');
    await writeFile(file, '');
    await expect(writeAside(join(file, 'target'), async () => 0)).rejects.toMatchObject({ code: 'usage' });
  });
});
