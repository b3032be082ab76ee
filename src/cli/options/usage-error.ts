/** Creates the errors for wrong options, variables and arguments, and for files that they name. */

import { RekapError } from '../../errors.ts';

export function usageError(message: string, next: string, cause?: unknown): RekapError {
  return new RekapError('usage', message, next, { cause });
}

export function configurationError(message: string, next: string, cause?: unknown): RekapError {
  return new RekapError('configuration', message, next, { cause });
}
