/** Addresses of buckets, and what the answers of a store come to. */

import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readBucketUrl } from '../../src/share/address.ts';
import { explainBucketError } from '../../src/share/bucket-errors.ts';
import { transferAll } from '../../src/share/bucket.ts';
import { startMemoryStore } from '../support/memory-store.ts';
import { storeAt } from '../support/object-store.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

describe('the address of a bucket', () => {
  it.each([
    ['s3://figures', 'figures', '', 's3://figures'],
    ['s3://figures/', 'figures', '', 's3://figures'],
    ['s3://figures/dpr', 'figures', 'dpr/', 's3://figures/dpr'],
    ['s3://fig.ures-1/a b/c=1//', 'fig.ures-1', 'a b/c=1/', 's3://fig.ures-1/a b/c=1'],
  ])('%s is read', (text, bucket, prefix, url) => {
    expect(readBucketUrl(text)).toEqual({ bucket, prefix, url });
  });

  it.each([
    's3://figures/..',
    's3://figures/a/../b',
    's3://figures/./a',
    's3://figures/a//b',
    's3://figures//a',
    's3://figures/a?b',
    's3://figures/a\nb',
    's3://',
    's3://ab',
    's3://Figures/a',
    's3://key:secret@figures/a',
    'S3://figures/a',
    'https://figures/a',
    '',
  ])('%j is refused, and not repeated', (text) => {
    expect(() => readBucketUrl(text)).toThrow(
      expect.objectContaining({
        code: 'usage',
        message: 'The address of the bucket is not valid. It is not shown, because it may contain a key.',
      }),
    );
  });
});

describe('a bucket', () => {
  it.each<[string, number, 'is new' | { etag: string }, boolean]>([
    ['is there already', 0, 'is new', false],
    ['is another meanwhile', 0, { etag: '"other"' }, false],
    ['is written by two at once', 409, 'is new', false],
    ['is another by the time it is written', 412, 'is new', false],
  ])('writes nothing where an object %s', async (_, status, condition, isWritten) => {
    const store = await startMemoryStore();
    const bucket = await store.open();
    store.objects.set('dpr/a', Buffer.from('before'));
    if (status > 0) store.refuse = () => status;
    expect(await bucket.write('a', 'after', condition)).toBe(isWritten);
    expect(store.objects.get('dpr/a')!.toString()).toBe('before');
    expect(store.requests).toEqual(['PUT dpr/a']);
  });

  it('writes nothing in the place of an object that is gone, and gives null for it', async () => {
    const store = await startMemoryStore();
    const bucket = await store.open();
    expect(await bucket.write('a', 'after', { etag: '"before"' })).toBe(false);
    expect(await bucket.read('a')).toBeNull();
    expect(await bucket.download('a', join(await temporaryFolder(), 'a'), 9)).toBeNull();
    expect([...store.objects.keys()]).toEqual([]);
  });

  it('gives up a store that sends a few bytes now and then', async () => {
    const server = createServer((_, response) => {
      response.writeHead(200, { etag: '"a"' });
      const dripping = setInterval(() => response.write('x'), 20);
      response.once('close', () => clearInterval(dripping));
    }).listen(0, '127.0.0.1');
    await new Promise((done) => server.once('listening', done));
    onTestFinished(() => {
      server.close();
      server.closeAllConnections();
    });
    const { port } = server.address() as AddressInfo;
    const bucket = await storeAt(`http://127.0.0.1:${port}`).open(undefined, { idleTimeout: 200 });
    await expect(bucket.read('a')).rejects.toMatchObject({ code: 'bucket' });
    const target = join(await temporaryFolder(), 'a');
    await expect(bucket.download('a', target, 1_000_000)).rejects.toMatchObject({ code: 'bucket' });
  });

  it('downloads no more than it is told, and says that there was more', async () => {
    const store = await startMemoryStore();
    const bucket = await store.open();
    const folder = await temporaryFolder();
    store.objects.set('dpr/a', Buffer.alloc(8_000_000, 'a'));
    const got = await bucket.download('a', join(folder, 'a'), 1000);
    expect(got!.bytes).toBeGreaterThan(1000);
    expect(got!.bytes).toBeLessThan(8_000_000);
    expect((await readFile(join(folder, 'a'))).length).toBeLessThanOrEqual(1000);
    // A file that is there is somebody's.
    await expect(bucket.download('a', join(folder, 'a'), 1000)).rejects.toMatchObject({ code: 'EEXIST' });
  });

  it('reads no text that is too large for one', async () => {
    const store = await startMemoryStore();
    const bucket = await store.open();
    const most = 64 << 20;
    store.objects.set('dpr/a', Buffer.alloc(most + 1));
    await expect(bucket.read('a')).rejects.toMatchObject({
      code: 'bucket',
      message: expect.stringContaining(`${store.url}/a is larger than`) as string,
    });
  });

  it('turns every page of a list, and removes what is below a path alone', async () => {
    const store = await startMemoryStore();
    const bucket = await store.open();
    const names = ['a/1', 'a/2', 'a/3/4', 'b/1', 'c/1', 'd'];
    for (const name of names) store.objects.set(`dpr/${name}`, Buffer.from(name));
    store.objects.set('dprx/a/1', Buffer.from(''));
    expect(await bucket.folders('')).toEqual(['a', 'b', 'c', 'd']);
    expect([...(await bucket.sizes('a/'))]).toEqual([
      ['1', 3],
      ['2', 3],
      ['3/4', 5],
    ]);
    await bucket.remove('a/');
    expect([...store.objects.keys()]).toEqual(['dpr/b/1', 'dpr/c/1', 'dpr/d', 'dprx/a/1']);
  });

  it.each([
    [403, 'Check the credentials'],
    [501, 'Use a store that supports conditional writes'],
    [418, 'Run the command again. If it still fails'],
  ])('says what to do where the store answers %i', async (status, next) => {
    const store = await startMemoryStore();
    const bucket = await store.open();
    store.refuse = () => status;
    await expect(bucket.write('a', '', 'is new')).rejects.toMatchObject({
      code: 'bucket',
      message: `${store.url}: failed to write a: Refused (Refused, ${status}).`,
      next: expect.stringContaining(next),
    });
  });

  it('uploads a file as it is', async () => {
    const store = await startMemoryStore();
    const bucket = await store.open();
    const file = join(await temporaryFolder(), 'file');
    await writeFile(file, 'ten bytes.');
    await bucket.upload('a', file);
    expect(store.objects.get('dpr/a')!.toString()).toBe('ten bytes.');
  });
});

it('an error of a file here is not blamed on the store', () => {
  const error = Object.assign(new Error('full'), { path: '/a', syscall: 'write' });
  expect(explainBucketError(error, 'read a', 's3://figures')).toBe(error);
});

describe('a transfer of many files', () => {
  it('begins no other file after the first failure, and throws that when the others have ended', async () => {
    const begun: number[] = [];
    const ended: number[] = [];
    const transfer = async (file: number): Promise<void> => {
      begun.push(file);
      if (file === 1) throw new Error('the second');
      await new Promise(setImmediate);
      ended.push(file);
    };
    const files = Array.from({ length: 20 }, (_, file) => file);
    await expect(transferAll(files, transfer, () => undefined)).rejects.toThrow('the second');
    expect(begun).toEqual([0, 1, 2, 3]);
    expect(ended).toEqual([0, 2, 3]);
  });
});
