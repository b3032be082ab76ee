/** A real S3 server (Versity's gateway, over a folder) where one can be had, and a way to it that breaks when it is told to. */

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { readBucketUrl } from '../../src/share/address.ts';
import { Bucket, type BucketAccess } from '../../src/share/bucket.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** `make tools` puts it there. */
const built = join(import.meta.dirname, '../../node_modules/.cache/tools/versitygw');
const program = [built, 'versitygw'].find((name) => spawnSync(name, ['--version']).status === 0);
export const hasStore = program !== undefined;
if (!hasStore) process.stderr.write('Tests against a real S3 server are skipped: "make tools" installs one.\n');

const credentials = { accessKeyId: 'pusher', secretAccessKey: 'not-much-of-a-secret' };

export interface Store {
  readonly endpoint: string;
  /** Address of a folder in a bucket that is there. */
  readonly url: string;
  /** Variables by which a command line finds it. */
  readonly environment: Record<string, string>;
  /** Opens the bucket, by another way if one is named. */
  open(endpoint?: string, access?: Partial<BucketAccess>): Promise<Bucket>;
}

/** Until the present test is over. */
export async function startStore(): Promise<Store> {
  const root = await temporaryFolder();
  await mkdir(join(root, 'figures'));
  const port = await freePort();
  const child = spawn(program!, ['--quiet', '--port', `127.0.0.1:${port}`, 'posix', root], {
    env: {
      PATH: process.env['PATH'] ?? '',
      ROOT_ACCESS_KEY: credentials.accessKeyId,
      ROOT_SECRET_KEY: credentials.secretAccessKey,
    },
    stdio: 'ignore',
  });
  const ended = new Promise<void>((done) => {
    child.once('error', () => done());
    child.once('exit', () => done());
  });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  await untilItListens(port, ended);
  return storeAt(`http://127.0.0.1:${port}`);
}

/** A store that listens at this address, and takes any credentials or these. */
export function storeAt(endpoint: string): Store {
  const url = 's3://figures/dpr';
  return {
    endpoint,
    url,
    environment: {
      AWS_ENDPOINT_URL_S3: endpoint,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    },
    async open(by = endpoint, access = {}) {
      const bucket = await Bucket.open(readBucketUrl(url), {
        pathStyle: true,
        signal: new AbortController().signal,
        ...access,
        client: { endpoint: by, region: 'us-east-1', credentials, ...access.client },
      });
      onTestFinished(() => bucket.close());
      return bucket;
    },
  };
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** A connection that is refused says at once that nothing listens yet. @throws where the server has ended. */
async function untilItListens(port: number, ended: Promise<void>): Promise<void> {
  let isOver = false;
  void ended.then(() => (isOver = true));
  for (;;) {
    if (isOver) throw new Error('The S3 server ended before it listened.');
    const socket = connect(port, '127.0.0.1');
    const isThere = await new Promise<boolean>((done) => {
      socket.once('connect', () => done(true));
      socket.once('error', () => done(false));
    });
    socket.destroy();
    if (isThere) return;
  }
}

/**
 * How the way to a store fails: it takes no connection, falls silent at once or in the middle of what the store answers, or is cut after so
 * many bytes in all that were sent there.
 */
export type Fault = 'none' | 'refused' | 'silent' | 'silent in the middle' | { readonly cutAfter: number };

/** A way to the store that breaks, until the present test is over. */
export async function startBrokenWay(store: Store): Promise<{ endpoint: string; fault: Fault }> {
  const way: { endpoint: string; fault: Fault } = { endpoint: '', fault: 'none' };
  const target = Number(new URL(store.endpoint).port);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    sockets.add(client);
    client.on('error', () => undefined);
    if (way.fault === 'refused') return void client.destroy();
    if (way.fault === 'silent') return void client.resume();
    const far = connect(target, '127.0.0.1');
    sockets.add(far);
    far.on('error', () => client.destroy());
    client.on('close', () => far.destroy());
    far.on('close', () => client.destroy());
    far.on('data', (piece) => {
      const isEnough = way.fault === 'silent in the middle' && client.bytesWritten > 2000;
      if (!isEnough) client.write(piece.subarray(0, way.fault === 'silent in the middle' ? 2001 : piece.length));
    });
    client.on('data', (piece) => {
      if (typeof way.fault !== 'object') return void far.write(piece);
      const left = way.fault.cutAfter;
      way.fault = { cutAfter: left - piece.length };
      if (left <= piece.length) far.write(piece.subarray(0, Math.max(0, left)), () => client.destroy());
      else far.write(piece);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  way.endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return way;
}

/** Returns a bucket some of whose methods do something else. */
export function altered(bucket: Bucket, methods: Partial<Bucket>): Bucket {
  return Object.assign(Object.create(bucket) as Bucket, methods);
}
