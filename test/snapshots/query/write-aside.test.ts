/** A file gets its name only when it is whole, and a failure is explained. */

import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { writeAllAside, writeAside } from '../../../src/snapshots/query/write-aside.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

describe('writing aside', () => {
  it('names the target only when it is whole, and returns the result of the writer', async () => {
    const target = join(await temporaryFolder(), 'target');
    const value = await writeAside(target, async (aside) => {
      await writeFile(aside, 'whole');
      await expect(stat(target)).rejects.toThrow(/ENOENT/);
      return 7;
    });
    expect(value).toBe(7);
    expect(await readFile(target, 'utf8')).toBe('whole');
  });

  /** Lets a write fail half-way, and checks that the target is unchanged. */
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

  it('throws the error of the writer and removes the incomplete file', async () => {
    const own = new Error('unknown');
    expect((await failWith(own)).thrown).toBe(own);
  });

  // file-errors.test.ts lists more system errors.
  it.each<[Error, object]>([
    [systemError('ENOSPC'), { code: 'disk-full', exitCode: 1, message: expect.stringContaining('target') }],
    [new Error('IO Error: Could not write file "x": No space left on device'), { code: 'disk-full' }],
    [systemError('EFBIG'), { code: 'disk-full', message: expect.stringContaining('maximum file size') }],
    [systemError('EACCES'), { code: 'usage', next: 'Choose another file.' }],
  ])('explains %s', async (error, expected) => {
    expect((await failWith(error)).thrown).toMatchObject(expected);
  });

  it('explains that the folder is a file', async () => {
    const file = join(await temporaryFolder(), 'file');
    await writeFile(file, '');
    await expect(writeAside(join(file, 'target'), async () => 0)).rejects.toMatchObject({ code: 'usage' });
  });
});

describe('writing several files aside', () => {
  const whole = (aside: string) => writeFile(aside, 'whole');

  it('leaves all targets unchanged if one of them cannot be written', async () => {
    const folder = await temporaryFolder();
    const [first, second, third] = ['first', 'second', 'third'].map((name) => join(folder, name));
    await writeFile(second!, 'before');
    const files = [first, second].map((target) => ({ target: target!, write: whole }));
    const failing = { target: third!, write: () => Promise.reject(new Error('unknown')) };
    await expect(writeAllAside([...files, failing])).rejects.toThrow('unknown');
    expect(await readdir(folder)).toEqual(['second']);
    expect(await readFile(second!, 'utf8')).toBe('before');
  });

  it('names the files that were written if a later one cannot be renamed', async () => {
    const folder = await temporaryFolder();
    const [first, ...others] = ['first', 'second', 'third'].map((name) => join(folder, name));
    const write = (aside: string) => whole(aside).then(() => mkdir(first!));
    const files = [{ target: first!, write }, ...others.map((target) => ({ target, write: whole }))];
    await expect(writeAllAside(files)).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringMatching(`^${first} cannot be written: .* Already written: ${others.join(', ')}.$`),
    });
    expect((await readdir(folder)).toSorted()).toEqual(['first', 'second', 'third']);
  });
});
