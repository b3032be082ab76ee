/** The address of a folder in an object store: s3://bucket/prefix. */

import { RekapError } from '../errors.ts';

export interface BucketAddress {
  readonly bucket: string;
  /** What every key begins with: empty, or ends with a slash. */
  readonly prefix: string;
  /** As people write it. */
  readonly url: string;
}

export function isBucketUrl(text: string): boolean {
  return /^s3:/i.test(text);
}

/** @throws `usage` for what is no such address. */
export function readBucketUrl(text: string): BucketAddress {
  const [, bucket, path = ''] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/.exec(text) ?? [];
  const parts = path.replace(/\/+$/, '').split('/');
  const isPlain = (part: string): boolean => /^[\w!'()*.+=@:, -]+$/.test(part) && part !== '.' && part !== '..';
  if (bucket === undefined || (path !== '' && !parts.every(isPlain)))
    throw new RekapError(
      'usage',
      // It is not repeated: it may hold a key.
      'This is not a bucket address.',
      'Write it as s3://bucket/prefix; the prefix may be left out.',
    );
  const prefix = path === '' ? '' : `${parts.join('/')}/`;
  return { bucket, prefix, url: `s3://${bucket}${prefix === '' ? '' : `/${prefix.slice(0, -1)}`}` };
}
