/** Creates the error for an option, a variable or an argument that is wrong. */

import { RekapError } from '../../errors.ts';

export function usageError(message: string, next: string, cause?: unknown): RekapError {
  return new RekapError('usage', message, next, { cause });
}
