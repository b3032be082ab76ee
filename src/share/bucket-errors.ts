/** Explains errors of the store or the AWS SDK: what failed, why, and what to do next. */

import { messageOf, RekapError, systemCode } from '../errors.ts';

interface Failure {
  readonly matches: (name: string, status: number, message: string) => boolean;
  readonly next: string;
}

const failures: readonly Failure[] = [
  {
    matches: (name, _status, message) =>
      name === 'CredentialsProviderError' || /could not load credentials/i.test(message),
    next: 'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or set AWS_PROFILE.',
  },
  {
    matches: (_name, _status, message) => /region is missing/i.test(message),
    next: 'Set AWS_REGION. For a store without regions, use us-east-1 or auto.',
  },
  {
    matches: (name, status) =>
      name === 'PermanentRedirect' || name === 'AuthorizationHeaderMalformed' || status === 301,
    next: 'Set AWS_REGION to the region of the bucket.',
  },
  {
    matches: (name) => name === 'NoSuchBucket',
    next: 'Create the bucket, or correct its name.',
  },
  {
    // Some stores return 404 for an unknown access key.
    matches: (name, status, message) => status === 401 || status === 403 || /access key/i.test(name + message),
    next: 'Check the credentials. They need permission to list the bucket, and to read, write and delete objects under the prefix.',
  },
  {
    matches: (name, status) => name === 'NotImplemented' || status === 501,
    next: 'Use a store that supports conditional writes (If-Match and If-None-Match).',
  },
  {
    matches: (_name, _status, message) => /checksum mismatch/i.test(message),
    next: 'A file in the bucket is damaged. Remove the folder of its snapshot from the bucket, and push the snapshot again.',
  },
  {
    matches: (_name, status) => status === 0,
    next: 'Check the network and AWS_ENDPOINT_URL_S3, then run the command again.',
  },
];

const otherwise = 'Run the command again. If it still fails, contact the operator of the store.';

/** @param doing The failed action, such as "read current.json". */
export function explainBucketError(error: unknown, doing: string, url: string): unknown {
  if (error instanceof RekapError || (error instanceof Error && 'path' in error && 'syscall' in error)) return error;
  const name = error instanceof Error ? error.name : '';
  const status = statusOf(error);
  // The SDK's message is empty if several addresses of a host refused the connection.
  const message = (messageOf(error) || systemCode(error)).replace(/\.$/, '');
  const { next } = failures.find(({ matches }) => matches(name, status, message)) ?? { next: otherwise };
  const why = status === 0 ? message : `${message} (${name}, ${status})`;
  return new RekapError('bucket', `${url}: failed to ${doing}: ${why}.`, next, { cause: error });
}

/** Returns the status of the store's response, or 0 if there was none. */
export function statusOf(error: unknown): number {
  const { $metadata: metadata } = (error ?? {}) as { $metadata?: { httpStatusCode?: number } };
  return metadata?.httpStatusCode ?? 0;
}
