/** Reads addresses of buckets, and turns responses of a store into results and errors. */

import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readBucketUrl } from '../../src/share/address.ts';
import { explainBucketError } from '../../src/share/bucket-errors.ts';
import { transferAll } from '../../src/share/transfer-all.ts';
import { startMemoryStore } from '../support/memory-store.ts';
import { storeAt } from '../support/object-store.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

describe('the address of a bucket', () => {
  it.each([
    ['s3://figures', 'figures', '', 's3://figures'],
    ['s3://figures/', 'figures', '', 's3://figures'],
    ['s3://figures/dpr', 'figures', 'dpr/', 's3://figures/dpr'],
    ['s3://fig.ures-1/a b/c=1//', 'fig.ures-1', 'a b/c=1/', 's3://fig.ures-1/a b/c=1'],
  ])('reads %s', (text, bucket, prefix, url) => {
    expect(readBucketUrl(text)).toEqual({ bucket, prefix, url });
  });

  it.each([
    's3://figures/..',
    's3://figures/a/../b',
    's3://figures/a//b',
    's3://figures/a?b',
    's3://figures/a\nb',
    's3://',
    's3://Figures/a',
    's3://key:secret@figures/a',
    'S3://figures/a',
    'https://figures/a',
    '',
  ])('refuses %j without repeating it', (text) => {
    expect(() => readBucketUrl(text)).toThrow(
      expect.objectContaining({
        code: 'usage',
        message: expect.not.stringMatching(/figures|secret/),
      }),
    );
  });
});

describe('a bucket', () => {
  it.each<[string, number, 'is new' | { etag: string }]>([
    ['exists', 0, 'is new'],
    ['has another ETag', 0, { etag: '"other"' }],
    ['is written at the same time (409)', 409, 'is new'],
    ['changes before the write (412)', 412, 'is new'],
  ])('writes nothing if an object %s', async (_, status, condition) => {
    const store = await startMemoryStore();
    const bucket = await store.open();
    store.objects.set('dpr/a', Buffer.from('before'));
    if (status > 0) store.refuse = () => status;
    expect(await bucket.write('a', 'after', condition)).toBe(false);
    expect(store.objects.get('dpr/a')!.toString()).toBe('before');
    expect(store.requests).toEqual(['PUT dpr/a']);
  });

  it('does not replace a missing object, and reads it as null', async () => {
    const store = await startMemoryStore();
    const bucket = await store.open();
    expect(await bucket.write('a', 'after', { etag: '"before"' })).toBe(false);
    expect(await bucket.read('a')).toBeNull();
    expect(await bucket.download('a', join(await temporaryFolder(), 'a'), 9)).toBeNull();
    expect([...store.objects.keys()]).toEqual([]);
  });

  it('gives up if a store sends only a few bytes now and then', async () => {
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

  it('downloads at most the given number of bytes, and reports that there are more', async () => {
    const store = await startMemoryStore();
    const bucket = await store.open();
    const folder = await temporaryFolder();
    store.objects.set('dpr/a', Buffer.alloc(8_000_000, 'a'));
    const downloaded = await bucket.download('a', join(folder, 'a'), 1000);
    expect(downloaded!.bytes).toBeGreaterThan(1000);
    expect(downloaded!.bytes).toBeLessThan(8_000_000);
    expect((await readFile(join(folder, 'a'))).length).toBeLessThanOrEqual(1000);
    // It never overwrites a file.
    await expect(bucket.download('a', join(folder, 'a'), 1000)).rejects.toMatchObject({ code: 'EEXIST' });
  });

  it('refuses to read a text beyond 64 MB', async () => {
    const store = await startMemoryStore();
    const bucket = await store.open();
    store.objects.set('dpr/a', Buffer.alloc((64 << 20) + 1));
    const message = expect.stringContaining('larger than') as string;
    await expect(bucket.read('a')).rejects.toMatchObject({ code: 'bucket', message });
  });

  it('reads every page of a list, and removes only objects below a path', async () => {
    const store = await startMemoryStore();
    const bucket = await store.open();
    for (const name of ['a/1', 'a/2', 'a/3/4', 'b/1', 'c/1', 'd']) store.objects.set(`dpr/${name}`, Buffer.from(name));
    store.objects.set('dprx/a/1', Buffer.from(''));
    expect(await bucket.folders('')).toEqual(['a', 'b', 'c']);
    expect(Object.fromEntries(await bucket.sizes('a/'))).toEqual({ '1': 3, '2': 3, '3/4': 5 });
    await bucket.remove('a/');
    expect([...store.objects.keys()]).toEqual(['dpr/b/1', 'dpr/c/1', 'dpr/d', 'dprx/a/1']);
  });

  it.each([
    [403, 'credentials'],
    [501, 'conditional writes'],
    [418, 'again'],
  ])('explains status %i', async (status, next) => {
    const store = await startMemoryStore();
    const bucket = await store.open();
    store.refuse = () => status;
    await expect(bucket.write('a', '', 'is new')).rejects.toMatchObject({
      code: 'bucket',
      message: expect.stringContaining(`(Refused, ${status})`),
      next: expect.stringContaining(next),
    });
  });
});

it('a local file error is not blamed on the store', () => {
  const error = Object.assign(new Error('full'), { path: '/a', syscall: 'write' });
  expect(explainBucketError(error, 'read a', 's3://figures')).toBe(error);
});

it('a transfer starts no other file after a failure, and throws it when the pending ones end', async () => {
  const started: number[] = [];
  const ended: number[] = [];
  const transfer = async (file: number): Promise<void> => {
    started.push(file);
    if (file === 1) throw new Error('the second');
    await new Promise(setImmediate);
    ended.push(file);
  };
  const files = Array.from({ length: 20 }, (_, file) => file);
  await expect(transferAll(files, transfer, () => undefined)).rejects.toThrow('the second');
  expect(started).toEqual([0, 1, 2, 3]);
  expect(ended).toEqual([0, 2, 3]);
});
