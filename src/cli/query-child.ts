/** Runs one query of `rekap serve` in a child process, which the service kills afterwards. */

import { setPriority } from 'node:os';
import { boundQuery } from './bound-query.ts';
import { isRekapError, messageOf } from '../errors.ts';
import type { QueryResult } from '../snapshots/query/query-result.ts';
import { runQuery } from '../snapshots/query/run-query.ts';
import { writeCsv, writeJson } from '../snapshots/query/write-result.ts';
import type { QueryRows, QueryRequest, QueryRefusal, QueryResponse } from '../serve/query-processes.ts';

class ResultTooLong extends Error {}

process.once('message', (request) => {
  void runRequest(request as QueryRequest).then((response) => process.send!(response));
});
// The service ended without killing this process.
process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'));

async function runRequest(request: QueryRequest): Promise<QueryResponse> {
  try {
    // Queries must not slow down the service.
    setPriority(10);
  } catch {
    // Some systems don't allow it.
  }
  const { database, sql, memory } = request;
  const watch = boundQuery({ seconds: undefined, memory, leftovers: [] });
  const { signal } = watch;
  try {
    return await runQuery(database, sql, (result) => writeFirstRows(result, request), { memory, signal });
  } catch (error) {
    return explain(error, signal.aborted);
  }
}

async function writeFirstRows(
  { columns, groups }: QueryResult,
  { format, rows, characters }: QueryRequest,
): Promise<QueryRows> {
  let truncated = false;
  let text = '';
  const first: QueryResult = {
    columns,
    async *groups() {
      let left = rows;
      for await (const group of groups()) {
        yield group.slice(0, left);
        truncated = group.length > left;
        left -= group.length;
        if (truncated) return;
      }
    },
  };
  const written = await (format === 'csv' ? writeCsv : writeJson)(first, async (piece) => {
    text += piece;
    if (text.length > characters) throw new ResultTooLong();
  });
  return { columns, text, rows: written, truncated };
}

function explain(error: unknown, isBeyondMemory: boolean): QueryRefusal {
  const message = messageOf(error);
  if (error instanceof ResultTooLong)
    return { reason: 'size', message: 'The result is too large to send. Select fewer columns or rows.' };
  const isOutOfMemory = error instanceof Error && messageOf(error.cause).startsWith('Out of Memory Error');
  if (isBeyondMemory || isOutOfMemory) return { reason: 'memory', message };
  return { reason: isRekapError(error, 'query') ? 'refused' : 'failed', message };
}
