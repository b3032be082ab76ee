/** What an error says of what was asked for: that there is nothing there, that such a question is not answered, or that there is no list. */

import { isRekapError, RekapError } from '../../errors.ts';
import type { Page, PageRequest } from '../../stages.ts';
import { RecordIndexBuilder } from '../scan/record-index-builder.ts';

/**
 * No content, not found, gone, range not satisfiable (RFC 9110): services answer so past their last page, or of a district without
 * records. It stands for an empty page, and like one it counts only when given twice.
 */
export const nothingThere: ReadonlySet<number> = new Set([204, 404, 410, 416]);

/** Whether the service says that it does not answer such a question; a server error or "too many" says so of the moment only. */
export function isRefusal(error: unknown): error is RekapError {
  return (
    isRekapError(error, 'source-status') &&
    error.status >= 400 &&
    error.status < 500 &&
    ![408, 425, 429].includes(error.status)
  );
}

/** Whether a failure concerns the district alone that met it; a refused key, a source that refuses all and a fault of ours end the run. */
export function concernsOneDistrict(error: unknown): error is RekapError {
  return (
    error instanceof RekapError &&
    !isRekapError(error, 'source-refused-key', 'source-refused-all', 'landing', 'system-limit')
  );
}

/** The page that an answer without content stands for. */
export function emptyPage(request: PageRequest, url: string): Page {
  return { request, url, bytes: Buffer.of(), count: 0, records: new RecordIndexBuilder(0, 0).finish() };
}
