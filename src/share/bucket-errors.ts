/** Explains what a store or the AWS SDK says: what was to be done, what went wrong, and what to do next. */

import { messageOf, RekapError, systemCode } from '../errors.ts';

interface Failure {
  readonly said: (name: string, status: number, message: string) => boolean;
  readonly next: string;
}

/** The first that fits gives the advice. */
const failures: readonly Failure[] = [
  {
    said: (name, _status, message) =>
      name === 'CredentialsProviderError' || /could not load credentials/i.test(message),
    next: 'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or set AWS_PROFILE.',
  },
  {
    said: (_name, _status, message) => /region is missing/i.test(message),
    next: 'Set AWS_REGION. For a store without regions, use us-east-1 or auto.',
  },
  {
    said: (name, status) => name === 'PermanentRedirect' || name === 'AuthorizationHeaderMalformed' || status === 301,
    next: 'Set AWS_REGION to the region of the bucket.',
  },
  {
    said: (name) => name === 'NoSuchBucket',
    next: 'Create the bucket, or correct its name.',
  },
  {
    // Some stores say 404 of a key that they do not know.
    said: (name, status, message) => status === 401 || status === 403 || /access key/i.test(name + message),
    next: 'Check the credentials. They need permission to list the bucket, and to read, write and delete objects under the prefix.',
  },
  {
    said: (name, status) => name === 'NotImplemented' || status === 501,
    next: 'Use a store that supports conditional writes (If-Match and If-None-Match).',
  },
  {
    said: (_name, _status, message) => /checksum mismatch/i.test(message),
    next: 'A file in the bucket is damaged. Remove the folder of its snapshot from the bucket, and push the snapshot again.',
  },
  {
    said: (_name, status) => status === 0,
    next: 'Check the network and AWS_ENDPOINT_URL_S3, then run the command again.',
  },
];

const otherwise = 'Run the command again. If it still fails, contact the operator of the store.';

/** @param doing What was to be done, such as "read current.json". */
export function explainBucketError(error: unknown, doing: string, url: string): unknown {
  // A file of this machine has failed, and not the store.
  if (error instanceof RekapError || (error instanceof Error && 'path' in error && 'syscall' in error)) return error;
  const name = error instanceof Error ? error.name : '';
  const status = statusOf(error);
  // The SDK has no message where several addresses of a host refused the connection.
  const message = (messageOf(error) || systemCode(error)).replace(/\.$/, '');
  const { next } = failures.find(({ said }) => said(name, status, message)) ?? { next: otherwise };
  const why = status === 0 ? message : `${message} (${name}, ${status})`;
  return new RekapError('bucket', `${url}: failed to ${doing}: ${why}.`, next, { cause: error });
}

/** The status of the store's answer; 0 where there was none. */
export function statusOf(error: unknown): number {
  const { $metadata: metadata } = (error ?? {}) as { $metadata?: { httpStatusCode?: number } };
  return metadata?.httpStatusCode ?? 0;
}
