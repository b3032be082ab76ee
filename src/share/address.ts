/** Parses the address of a folder in an object store: s3://bucket/prefix. */

import { RekapError } from '../errors.ts';

export interface BucketAddress {
  readonly bucket: string;
  /** Prefix of every key: empty, or with a slash at the end. */
  readonly prefix: string;
  readonly url: string;
}

export function isBucketUrl(text: string): boolean {
  return /^s3:/i.test(text);
}

export function readBucketUrl(text: string): BucketAddress {
  const [, bucket, path = ''] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/.exec(text) ?? [];
  const parts = path.replace(/\/+$/, '').split('/');
  const isPlain = (part: string): boolean => /^[\w!'()*.+=@:, -]+$/.test(part) && part !== '.' && part !== '..';
  if (bucket === undefined || (path !== '' && !parts.every(isPlain))) {
    // The address isn't shown, because it may contain a key.
    const what = 'The address of the bucket is not valid. It is not shown, because it may contain a key.';
    const next =
      'Write it as s3://bucket/prefix. You can omit the prefix. The name of the bucket consists of lower-case letters, digits, dots and hyphens.';
    throw new RekapError('usage', what, next);
  }
  const prefix = path === '' ? '' : `${parts.join('/')}/`;
  return { bucket, prefix, url: `s3://${bucket}${prefix === '' ? '' : `/${prefix.slice(0, -1)}`}` };
}
