/** A folder in an object store: reads, writes, lists and removes its objects through the AWS SDK. Paths begin below the address. */

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

/** A small object, and what its state is called until it is replaced. */
interface StoredText {
  readonly text: string;
  readonly etag: string;
}

/** What must hold for a text to be written: that there is none yet, or that it is still the one of this ETag. */
type WriteCondition = 'is new' | { readonly etag: string };

export interface Bucket {
  readonly url: string;
  /** Null where there is none. */
  read(path: string): Promise<StoredText | null>;
  /** Writes a text in one step; gives false where the condition does not hold. */
  write(path: string, text: string, condition: WriteCondition): Promise<boolean>;
  /** In parts where it is large, each with its SHA-256. */
  upload(path: string, file: string): Promise<void>;
  /** Writes an object to a new file, `bytes` at the most; gives its length and SHA-256, or null where there is no such object. */
  download(path: string, file: string, bytes: number): Promise<{ bytes: number; sha256: string } | null>;
  /** Names of the folders below a path. */
  folders(path: string): Promise<string[]>;
  /** Bytes of each object below a path, by what follows the path. */
  sizes(path: string): Promise<Map<string, number>>;
  /** Removes everything below a path. */
  remove(path: string): Promise<void>;
  close(): void;
}

/** Milliseconds to connect, and those without a byte after which a connection counts as broken. */
const connectionTimeout = 10_000;
const idleTimeout = 60_000;
/** Bytes a second that a store must send on average. */
const slowest = 8000;
/** Bytes of a part. The store takes 10,000 of them. */
const partSize = 16 << 20;
/** Bytes that a small object may have. */
const mostText = 64 << 20;
/** Keys that one request may remove. */
const mostKeys = 1000;
/** Files that are transferred at a time. */
const filesAtOnce = 4;

const contentTypes: Readonly<Record<string, string>> = {
  json: 'application/json',
  html: 'text/html; charset=utf-8',
  parquet: 'application/vnd.apache.parquet',
};

export interface BucketAccess {
  /** Whether the bucket stands in the path, as stores want it that have an address of their own. */
  readonly pathStyle: boolean;
  readonly signal: AbortSignal;
  readonly idleTimeout?: number;
  /** Settings that the SDK would otherwise look for: credentials, region, endpoint. */
  readonly client?: S3ClientConfig;
}

/** Credentials, region and endpoint come from wherever the AWS SDK looks for them. Each method throws `bucket` for what goes wrong. */
export async function openBucket({ bucket, prefix, url }: BucketAddress, access: BucketAccess): Promise<Bucket> {
  const [s3, { Upload }] = await Promise.all([import('@aws-sdk/client-s3'), import('@aws-sdk/lib-storage')]);
  const idle = access.idleTimeout ?? idleTimeout;
  const client = new s3.S3Client({
    forcePathStyle: access.pathStyle,
    requestHandler: { connectionTimeout, socketTimeout: idle },
    ...access.client,
  });
  // Also the requests that the upload in parts sends: else they would keep the process alive, and be tried again.
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

  /** The body of an object; null where there is none. */
  async function get(path: string) {
    try {
      const { Body, ContentLength = 0, ETag = '' } = await client.send(new s3.GetObjectCommand(at(path)));
      return { body: Body as Readable, length: ContentLength, etag: ETag };
    } catch (error) {
      if (error instanceof s3.NoSuchKey) return null;
      throw error;
    }
  }

  /** The pieces of a body; a store that sends a few bytes now and then would else keep a command busy forever. */
  async function* inTime(body: Readable): AsyncGenerator<Buffer> {
    const began = performance.now();
    let bytes = 0;
    for await (const piece of body as AsyncIterable<Buffer>) {
      bytes += piece.length;
      const taken = performance.now() - began;
      if (taken > idle && bytes < (taken * slowest) / 1000)
        throw new RekapError(
          'bucket',
          `${url} sends less than ${formatBytes(slowest)} per second.`,
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
        for await (const piece of bytes > mostText ? [] : inTime(found.body)) {
          pieces.push(piece);
          bytes = pieces.reduce((sum, { length }) => sum + length, 0);
          if (bytes > mostText) break;
        }
        if (bytes > mostText) {
          found.body.destroy();
          throw new RekapError(
            'bucket',
            `${url}/${path} is larger than ${formatBytes(mostText)}.`,
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
          // 404 for what should have been there, 409 for two writers at the very same time.
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
          for await (const piece of inTime(found.body)) {
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
        for (let first = 0; first < keys.length; first += mostKeys) {
          const Objects = keys.slice(first, first + mostKeys).map((Key) => ({ Key }));
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

/**
 * Transfers files, some at a time. After the first failure no other begins, and it is thrown when those under way have ended.
 *
 * @param report Told after each file how many are done.
 */
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
