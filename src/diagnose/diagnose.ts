/** Checks that a sync can run here, and explains how to fix problems. Reads a few records and writes nothing. */

import { constants } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { bad, doubt, examineService, type Finding, ok, type ServiceOptions } from './examine-service.ts';
import { isRekapError, systemCode } from '../errors.ts';
import type { Secret } from '../source/secret.ts';
import { formatNumber } from '../runtime/text.ts';
import { isFolder } from '../runtime/with-file.ts';
import { readCurrentId } from '../warehouse/warehouse.ts';

export interface DoctorOptions extends ServiceOptions {
  readonly warehouse: string;
  /** Null to check only this machine. */
  readonly baseUrl: string | null;
  readonly apiKey: Secret | null;
  readonly node: string;
  /** Path of the file with the key; null if the key is in the environment. */
  readonly keyFile: string | null;
  readonly readNotices: (() => Promise<unknown>) | null;
  /** Returns the current snapshot in the bucket of `--push`; null without this option. */
  readonly readBucket: (() => Promise<string | null>) | null;
}

const leastSpace = 1_000_000_000;

export async function* examine(options: DoctorOptions): AsyncGenerator<Finding> {
  yield examineNode(options.node);
  yield* examineFolder(options.warehouse);
  const { readBucket, readNotices } = options;
  if (readBucket !== null)
    yield await findFailure('bucket', async () => {
      const current = await readBucket();
      return `${current === null ? 'readable and empty' : `contains ${current}`}; write access was not checked`;
    });
  if (readNotices !== null)
    yield await findFailure('notices', async () => {
      await readNotices();
      return 'the settings of pings, webhooks and metrics are valid';
    });
  if (options.apiKey !== null || options.baseUrl !== null || readBucket === null) yield await examineKey(options);
  if (options.baseUrl === null || options.apiKey === null) return;
  yield* examineService(options, options.baseUrl, options.apiKey);
}

function examineNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 20 || (major === 20 && minor >= 19)
    ? ok('node', version)
    : bad('node', version, 'Install Node.js 20.19 or later.');
}

async function* examineFolder(warehouse: string): AsyncGenerator<Finding> {
  const folder = await nearestFolder(resolve(warehouse));
  try {
    await access(folder, constants.W_OK | constants.X_OK);
    const current = await readCurrentId(warehouse).catch(() => null);
    yield ok('warehouse', current === null ? `${warehouse} is empty and writable` : `${warehouse} contains ${current}`);
  } catch (error) {
    yield bad(
      'warehouse',
      `${folder} is not writable (${systemCode(error)})`,
      'Change its owner to this user, or choose another folder with --warehouse.',
    );
  }
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  const found = `${formatNumber(Math.floor(free / 1_000_000))} MB are free`;
  yield free >= leastSpace
    ? ok('space', found)
    : doubt(
        'space',
        found,
        'Free some space. rekap keeps several snapshots, and the responses that they were built from.',
      );
}

async function examineKey({ apiKey, keyFile, project: { auth } }: DoctorOptions): Promise<Finding> {
  if (auth === null) return ok('key', 'the project declares no key');
  if (apiKey === null) return bad('key', 'the API key is missing', 'Set REKAP_API_KEY, or add --api-key-file FILE.');
  const mode = keyFile === null ? 0 : ((await stat(keyFile).catch(() => null))?.mode ?? 0);
  return (mode & 0o077) !== 0
    ? doubt(
        'key',
        'the API key is set, but other users can read its file',
        `Restrict its permissions: chmod 600 ${keyFile}`,
      )
    : ok('key', 'the API key is set (not shown)');
}

/** Returns the finding of `examined`, or that a setting or the bucket has failed. */
async function findFailure(about: string, examined: () => Promise<string>): Promise<Finding> {
  try {
    return ok(about, await examined());
  } catch (error) {
    if (!isRekapError(error, 'bucket', 'configuration', 'usage')) throw error;
    return bad(about, error.message, error.next);
  }
}

async function nearestFolder(path: string): Promise<string> {
  return dirname(path) === path || (await isFolder(path)) ? path : nearestFolder(dirname(path));
}
