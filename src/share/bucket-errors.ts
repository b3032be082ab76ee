/** Explains errors of the store or the AWS SDK: what failed, why, and what to do next. */

import { messageOf, RekapError, systemCode } from '../errors.ts';

function nextStep(name: string, status: number, message: string): string {
  if (name === 'CredentialsProviderError' || /could not load credentials/i.test(message))
    return 'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or set AWS_PROFILE.';
  if (/region is missing/i.test(message)) return 'Set AWS_REGION. For a store without regions, use us-east-1 or auto.';
  if (name === 'PermanentRedirect' || name === 'AuthorizationHeaderMalformed' || status === 301)
    return 'Set AWS_REGION to the region of the bucket.';
  if (name === 'NoSuchBucket') return 'Create the bucket, or correct its name.';
  // Some stores return 404 for an unknown access key.
  if (status === 401 || status === 403 || /access key/i.test(name + message))
    return 'Check the credentials. They need permission to list the bucket, and to read, write and delete objects under the prefix.';
  if (name === 'NotImplemented' || status === 501)
    return 'Use a store that supports conditional writes (If-Match and If-None-Match).';
  if (/checksum mismatch/i.test(message))
    return 'A file in the bucket is damaged. Remove the folder of its snapshot from the bucket, and push the snapshot again.';
  if (status === 0) return 'Check the network and AWS_ENDPOINT_URL_S3, then run the command again.';
  return 'Run the command again. If it still fails, contact the operator of the store.';
}

/** @param doing The failed action, such as "read current.json". */
export function explainBucketError(error: unknown, doing: string, url: string): unknown {
  if (error instanceof RekapError || (error instanceof Error && 'path' in error && 'syscall' in error)) return error;
  const name = error instanceof Error ? error.name : '';
  const status = statusOf(error);
  // The SDK's message is empty if several addresses of a host refused the connection.
  const message = (messageOf(error) || systemCode(error)).replace(/\.$/, '');
  const why = status === 0 ? message : `${message} (${name}, ${status})`;
  return new RekapError('bucket', `${url}: failed to ${doing}: ${why}.`, nextStep(name, status, message), {
    cause: error,
  });
}

/** Returns the status of the store's response, or 0 if there was none. */
export function statusOf(error: unknown): number {
  const { $metadata: metadata } = (error ?? {}) as { $metadata?: { httpStatusCode?: number } };
  return metadata?.httpStatusCode ?? 0;
}
