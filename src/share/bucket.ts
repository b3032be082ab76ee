/** Reads, writes, lists and removes objects in a folder of an object store. Paths are relative to the address. */

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import type { S3ClientConfig } from '@aws-sdk/client-s3';
import pLimit from 'p-limit';
import type { BucketAddress } from './address.ts';
import { explainBucketError, statusOf } from './bucket-errors.ts';
import { RekapError } from '../errors.ts';
import { formatBytes } from '../runtime/text.ts';
import { nameFile } from '../runtime/with-file.ts';

interface StoredText {
  readonly text: string;
  readonly etag: string;
}

type WriteCondition = 'is new' | { readonly etag: string };

export interface Bucket {
  readonly url: string;
  read(path: string): Promise<StoredText | null>;
  /** Writes a text in one step. Returns false if the condition isn't met. */
  write(path: string, text: string, condition: WriteCondition): Promise<boolean>;
  upload(path: string, file: string): Promise<void>;
  /** Writes at most `bytes` of an object to a new file. Returns its length and SHA-256, or null if the object doesn't exist. */
  download(path: string, file: string, bytes: number): Promise<{ bytes: number; sha256: string } | null>;
  folders(path: string): Promise<string[]>;
  /** Returns the size of each object below a path, by relative path. */
  sizes(path: string): Promise<Map<string, number>>;
  remove(path: string): Promise<void>;
  close(): void;
}

/** Timeouts in milliseconds, to connect and between two received bytes. */
const connectionTimeout = 10_000;
const idleTimeout = 60_000;
/** Minimum average rate of a store in bytes per second. */
const minRate = 8000;
/** Bytes per part. A store accepts 10,000 parts. */
const partSize = 16 << 20;
const maxTextBytes = 64 << 20;
const maxKeys = 1000;
const filesAtOnce = 4;

const contentTypes: Readonly<Record<string, string>> = {
  json: 'application/json',
  html: 'text/html; charset=utf-8',
  parquet: 'application/vnd.apache.parquet',
};

export interface BucketAccess {
  /** True if the bucket's name is part of the path, as for most stores other than AWS. */
  readonly pathStyle: boolean;
  readonly signal: AbortSignal;
  readonly idleTimeout?: number;
  /** Overrides credentials, region and endpoint of the SDK. */
  readonly client?: S3ClientConfig;
}

/** Opens a bucket with the credentials, region and endpoint of the AWS SDK. All methods throw `bucket` on failure. */
export async function openBucket({ bucket, prefix, url }: BucketAddress, access: BucketAccess): Promise<Bucket> {
  const [s3, { Upload }] = await Promise.all([import('@aws-sdk/client-s3'), import('@aws-sdk/lib-storage')]);
  const idle = access.idleTimeout ?? idleTimeout;
  const client = new s3.S3Client({
    forcePathStyle: access.pathStyle,
    requestHandler: { connectionTimeout, socketTimeout: idle },
    ...access.client,
  });
  // Also aborts the requests of multipart uploads, which would keep the process alive and be retried.
  const send = client.send.bind(client) as (command: unknown, options?: object) => Promise<unknown>;
  client.send = ((command: unknown, options: object = {}) =>
    send(command, { ...options, abortSignal: access.signal })) as typeof client.send;
  const at = (path: string) => ({ Bucket: bucket, Key: prefix + path });

  async function explained<Value>(doing: string, act: () => Promise<Value>): Promise<Value> {
    try {
      return await act();
    } catch (error) {
      access.signal.throwIfAborted();
      throw explainBucketError(error, doing, url);
    }
  }

  async function get(path: string) {
    try {
      const { Body, ContentLength = 0, ETag = '' } = await client.send(new s3.GetObjectCommand(at(path)));
      return { body: Body as Readable, length: ContentLength, etag: ETag };
    } catch (error) {
      if (error instanceof s3.NoSuchKey) return null;
      throw error;
    }
  }

  /** Yields the chunks of a body. Fails below the minimum rate, because a slow store could block a command forever. */
  async function* readInTime(body: Readable): AsyncGenerator<Buffer> {
    const began = performance.now();
    let bytes = 0;
    for await (const piece of body as AsyncIterable<Buffer>) {
      bytes += piece.length;
      const taken = performance.now() - began;
      if (taken > idle && bytes < (taken * minRate) / 1000)
        throw new RekapError(
          'bucket',
          `${url} sends less than ${formatBytes(minRate)} per second.`,
          'Run the command again when the connection is faster.',
        );
      yield piece;
    }
  }

  async function sizes(path: string): Promise<Map<string, number>> {
    const below = prefix + path;
    const found = new Map<string, number>();
    const pages = s3.paginateListObjectsV2({ client }, { Bucket: bucket, Prefix: below });
    for await (const { Contents = [] } of pages)
      for (const { Key = '', Size = 0 } of Contents) found.set(Key.slice(below.length), Size);
    return found;
  }

  return {
    url,
    read: (path) =>
      explained(`read ${path}`, async () => {
        const found = await get(path);
        if (found === null) return null;
        const pieces: Buffer[] = [];
        let bytes = found.length;
        // A store may leave out the length.
        for await (const piece of bytes > maxTextBytes ? [] : readInTime(found.body)) {
          pieces.push(piece);
          bytes = pieces.reduce((sum, { length }) => sum + length, 0);
          if (bytes > maxTextBytes) break;
        }
        if (bytes > maxTextBytes) {
          found.body.destroy();
          throw new RekapError(
            'bucket',
            `${url}/${path} is larger than ${formatBytes(maxTextBytes)}.`,
            'rekap did not write this file. Choose another prefix.',
          );
        }
        return { text: Buffer.concat(pieces).toString('utf8'), etag: found.etag };
      }),

    write: (path, text, condition) =>
      explained(`write ${path}`, async () => {
        const only = condition === 'is new' ? { IfNoneMatch: '*' } : { IfMatch: condition.etag };
        const put = { ...at(path), ...typeOf(path), ...only, Body: text, ChecksumAlgorithm: 'SHA256' as const };
        try {
          await client.send(new s3.PutObjectCommand(put));
          return true;
        } catch (error) {
          // 404 if the expected object doesn't exist, 409 for simultaneous writers.
          const status = statusOf(error);
          if (status === 412 || status === 409 || (status === 404 && error instanceof s3.NoSuchKey)) return false;
          throw error;
        }
      }),

    upload: (path, file) =>
      explained(`write ${path}`, async () => {
        const params = { ...at(path), ...typeOf(path), ChecksumAlgorithm: 'SHA256' as const };
        const upload = new Upload({
          client,
          partSize,
          queueSize: 2,
          params: { ...params, Body: createReadStream(file, { highWaterMark: 1 << 20 }) },
        });
        await upload.done();
      }),

    download: (path, target, most) =>
      explained(`read ${path}`, async () => {
        const found = await get(path);
        if (found === null) return null;
        const hash = createHash('sha256');
        let bytes = 0;
        const file = await open(target, 'wx');
        try {
          for await (const piece of readInTime(found.body)) {
            bytes += piece.length;
            if (bytes > most) break;
            hash.update(piece);
            await nameFile(target, () => file.appendFile(piece));
          }
        } finally {
          await file.close();
        }
        return { bytes, sha256: hash.digest('hex') };
      }),

    folders: (path) =>
      explained(`list ${path}`, async () => {
        const own = prefix + path;
        const found: string[] = [];
        const pages = s3.paginateListObjectsV2({ client }, { Bucket: bucket, Prefix: own, Delimiter: '/' });
        for await (const { CommonPrefixes = [] } of pages)
          found.push(...CommonPrefixes.map(({ Prefix = '' }) => Prefix.slice(own.length, -1)));
        return found;
      }),

    sizes: (path) => explained(`list ${path}`, () => sizes(path)),

    remove: (path) =>
      explained(`remove ${path}`, async () => {
        const keys = [...(await sizes(path)).keys()].map((name) => prefix + path + name);
        for (let first = 0; first < keys.length; first += maxKeys) {
          const Objects = keys.slice(first, first + maxKeys).map((Key) => ({ Key }));
          const { Errors = [] } = await client.send(
            new s3.DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects, Quiet: true } }),
          );
          const [refused] = Errors;
          if (refused !== undefined)
            throw new RekapError(
              'bucket',
              `${url}: failed to remove ${refused.Key}: ${refused.Message ?? refused.Code}.`,
              'Check that the credentials have permission to delete objects under the prefix.',
            );
        }
      }),

    close: () => client.destroy(),
  };
}

function typeOf(path: string): { ContentType?: string } {
  const type = contentTypes[/\.(\w+)$/.exec(path)?.[1] ?? ''];
  return type === undefined ? {} : { ContentType: type };
}

/** Transfers several files at a time. After a failure, waits for running transfers and throws the first error. */
export async function transferAll<File>(
  files: readonly File[],
  transfer: (file: File) => Promise<void>,
  report: (done: number, files: number) => void,
): Promise<void> {
  const limit = pLimit(filesAtOnce);
  const failures: unknown[] = [];
  let done = 0;
  await limit.map(files, async (file) => {
    if (failures.length > 0) return;
    try {
      await transfer(file);
      done += 1;
      report(done, files.length);
    } catch (error) {
      failures.push(error);
    }
  });
  if (failures.length > 0) throw failures[0];
}
