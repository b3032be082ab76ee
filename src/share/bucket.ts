/** Reads, writes, lists and removes objects in a folder of an object store. Paths are relative to the address. */

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import type { S3Client, S3ClientConfig } from '@aws-sdk/client-s3';
import type { BucketAddress } from './address.ts';
import { explainBucketError, statusOf } from './bucket-errors.ts';
import { RekapError } from '../errors.ts';
import { formatBytes } from '../runtime/text.ts';
import { nameFile } from '../runtime/with-file.ts';

export interface BucketAccess {
  /** True if the bucket's name is part of the path, as for most stores other than AWS. */
  readonly pathStyle: boolean;
  readonly signal: AbortSignal;
  readonly idleTimeout?: number;
  /** Overrides credentials, region and endpoint of the SDK. */
  readonly client?: S3ClientConfig;
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

const contentTypes: Readonly<Record<string, string>> = {
  json: 'application/json',
  html: 'text/html; charset=utf-8',
  parquet: 'application/vnd.apache.parquet',
};

type Sdk = typeof import('@aws-sdk/client-s3') & Pick<typeof import('@aws-sdk/lib-storage'), 'Upload'>;

/** An open bucket. All methods throw `bucket` on failure. */
export class Bucket {
  readonly url: string;
  private readonly address: BucketAddress;
  private readonly access: BucketAccess;
  private readonly sdk: Sdk;
  private readonly client: S3Client;

  private constructor(address: BucketAddress, access: BucketAccess, sdk: Sdk) {
    this.url = address.url;
    this.address = address;
    this.access = access;
    this.sdk = sdk;
    this.client = createClient(sdk, access);
  }

  /** Opens a bucket with the credentials, region and endpoint of the AWS SDK, which takes long to load. */
  static async open(address: BucketAddress, access: BucketAccess): Promise<Bucket> {
    const [s3, { Upload }] = await Promise.all([import('@aws-sdk/client-s3'), import('@aws-sdk/lib-storage')]);
    return new Bucket(address, access, { ...s3, Upload });
  }

  /** Returns a text and its ETag, or null if the object doesn't exist. */
  async read(path: string): Promise<{ text: string; etag: string } | null> {
    return this.explained(`read ${path}`, async () => {
      const found = await this.get(path);
      if (found === null) return null;
      const pieces: Buffer[] = [];
      const bytes = await this.receive(found.body, maxTextBytes, (piece) => pieces.push(piece));
      if (bytes > maxTextBytes) {
        const what = `${this.url}/${path} is larger than ${formatBytes(maxTextBytes)}.`;
        throw new RekapError('bucket', what, 'rekap did not write this file. Choose another prefix.');
      }
      return { text: Buffer.concat(pieces).toString('utf8'), etag: found.etag };
    });
  }

  /** Writes at most `most` bytes of an object to a new file. Returns its length and SHA-256, or null if the object doesn't exist. */
  async download(path: string, target: string, most: number): Promise<{ bytes: number; sha256: string } | null> {
    return this.explained(`read ${path}`, async () => {
      const found = await this.get(path);
      if (found === null) return null;
      const hash = createHash('sha256');
      const file = await open(target, 'wx');
      try {
        const bytes = await this.receive(found.body, most, (piece) => {
          hash.update(piece);
          return nameFile(target, () => file.appendFile(piece));
        });
        return { bytes, sha256: hash.digest('hex') };
      } finally {
        await file.close();
      }
    });
  }

  /** Writes a text in one step. Returns false if the condition isn't met. */
  async write(path: string, text: string, condition: 'is new' | { readonly etag: string }): Promise<boolean> {
    return this.explained(`write ${path}`, async () => {
      const only = condition === 'is new' ? { IfNoneMatch: '*' } : { IfMatch: condition.etag };
      try {
        await this.client.send(new this.sdk.PutObjectCommand({ ...this.put(path), ...only, Body: text }));
        return true;
      } catch (error) {
        // 404 if the expected object doesn't exist, 409 for simultaneous writers.
        const status = statusOf(error);
        if (status === 412 || status === 409 || (status === 404 && error instanceof this.sdk.NoSuchKey)) return false;
        throw error;
      }
    });
  }

  async upload(path: string, file: string): Promise<void> {
    return this.explained(`write ${path}`, async () => {
      const Body = createReadStream(file, { highWaterMark: 1 << 20 });
      const params = { ...this.put(path), Body };
      await new this.sdk.Upload({ client: this.client, partSize, queueSize: 2, params }).done();
    });
  }

  /** Returns the size of each object below a path, by relative path. */
  async sizes(path: string): Promise<Map<string, number>> {
    return this.explained(`list ${path}`, async () => {
      const { bucket, prefix } = this.address;
      const below = prefix + path;
      const found = new Map<string, number>();
      const pages = this.sdk.paginateListObjectsV2({ client: this.client }, { Bucket: bucket, Prefix: below });
      for await (const { Contents = [] } of pages)
        for (const { Key = '', Size = 0 } of Contents) found.set(Key.slice(below.length), Size);
      return found;
    });
  }

  /** Returns the names of the folders in a path. */
  async folders(path: string): Promise<string[]> {
    const inFolders = [...(await this.sizes(path)).keys()].filter((name) => name.includes('/'));
    return [...new Set(inFolders.map((name) => name.split('/', 1)[0]!))];
  }

  async remove(path: string): Promise<void> {
    const names = [...(await this.sizes(path)).keys()];
    return this.explained(`remove ${path}`, async () => {
      const { bucket, prefix } = this.address;
      for (let first = 0; first < names.length; first += maxKeys) {
        const Objects = names.slice(first, first + maxKeys).map((name) => ({ Key: prefix + path + name }));
        const command = new this.sdk.DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects, Quiet: true } });
        const [refused] = (await this.client.send(command)).Errors ?? [];
        if (refused !== undefined) {
          const what = `${this.url}: failed to remove ${refused.Key}: ${refused.Message ?? refused.Code}.`;
          const next = 'Check that the credentials have permission to delete objects under the prefix.';
          throw new RekapError('bucket', what, next);
        }
      }
    });
  }

  close(): void {
    this.client.destroy();
  }

  private at(path: string): { Bucket: string; Key: string } {
    return { Bucket: this.address.bucket, Key: this.address.prefix + path };
  }

  private put(path: string) {
    const type = contentTypes[/\.(\w+)$/.exec(path)?.[1] ?? ''];
    return { ...this.at(path), ...(type !== undefined && { ContentType: type }), ChecksumAlgorithm: 'SHA256' as const };
  }

  private async get(path: string): Promise<{ body: Readable; etag: string } | null> {
    try {
      const { Body, ETag = '' } = await this.client.send(new this.sdk.GetObjectCommand(this.at(path)));
      return { body: Body as Readable, etag: ETag };
    } catch (error) {
      if (error instanceof this.sdk.NoSuchKey) return null;
      throw error;
    }
  }

  /**
   * Passes the pieces of a body to `take` until they have more than `most` bytes, and returns their length. Fails below the minimum rate, because
   * a slow store could block a command forever.
   */
  private async receive(body: Readable, most: number, take: (piece: Buffer) => unknown): Promise<number> {
    const idle = this.access.idleTimeout ?? idleTimeout;
    const began = performance.now();
    let bytes = 0;
    for await (const piece of body as AsyncIterable<Buffer>) {
      bytes += piece.length;
      if (bytes > most) break;
      const taken = performance.now() - began;
      if (taken > idle && bytes < (taken * minRate) / 1000) {
        const what = `${this.url} sends less than ${formatBytes(minRate)} per second.`;
        throw new RekapError('bucket', what, 'Run the command again when the connection is faster.');
      }
      await take(piece);
    }
    return bytes;
  }

  private async explained<Value>(doing: string, act: () => Promise<Value>): Promise<Value> {
    try {
      return await act();
    } catch (error) {
      this.access.signal.throwIfAborted();
      throw explainBucketError(error, doing, this.url);
    }
  }
}

function createClient(sdk: Sdk, access: BucketAccess): S3Client {
  const client = new sdk.S3Client({
    forcePathStyle: access.pathStyle,
    requestHandler: { connectionTimeout, socketTimeout: access.idleTimeout ?? idleTimeout },
    ...access.client,
  });
  // Also aborts the requests of multipart uploads, which would keep the process alive and be retried.
  const send = client.send.bind(client) as (command: unknown, options?: object) => Promise<unknown>;
  client.send = ((command: unknown, options: object = {}) =>
    send(command, { ...options, abortSignal: access.signal })) as typeof client.send;
  return client;
}
