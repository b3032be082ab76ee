/** Runs SQL queries in child processes, so that a query that is slow, greedy or crashes can't harm the service. */

import { fork } from 'node:child_process';
import * as limits from './limits.ts';
import { Problem } from './problem.ts';

export type QueryFormat = 'json' | 'csv';

export interface QueryRequest {
  readonly database: string;
  readonly sql: string;
  readonly format: QueryFormat;
  readonly rows: number;
  readonly characters: number;
  readonly memory: number;
}

export interface QueryRows {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  /** The rows as a JSON array of objects, or as CSV with a header. */
  readonly text: string;
  readonly rows: number;
  /** True if the result has more rows than the request allows. */
  readonly truncated: boolean;
}

/** `refused` is the query's fault, `failed` the service's. */
export interface QueryRefusal {
  readonly reason: 'refused' | 'memory' | 'size' | 'failed';
  readonly message: string;
}

export type QueryResponse = QueryRows | QueryRefusal;

export type RunQuery = (sql: string, format: QueryFormat, signal: AbortSignal) => Promise<QueryRows>;

export interface QueryProcessesOptions {
  readonly program: string;
  readonly database: () => Promise<string>;
  /** Milliseconds for one query. */
  readonly time?: number;
  readonly memory?: number;
}

/**
 * Returns a function that runs each query in its own process, at most `limits.queriesAtOnce` at a time.
 *
 * Throws Problem 422 if DuckDB refuses the query or it times out. Throws 413 if it or its result is too large, and 503 if all slots are used.
 */
export function queryProcesses(options: QueryProcessesOptions): RunQuery {
  let running = 0;
  return async (sql, format, signal) => {
    if (running >= limits.queriesAtOnce)
      throw new Problem(503, 'Too many queries are running. Retry after the number of seconds in Retry-After.', {
        headers: { 'retry-after': String(limits.retryAfterBusy) },
      });
    running += 1;
    try {
      return await runQueryProcess(await options.database(), sql, format, signal, options);
    } finally {
      running -= 1;
    }
  };
}

async function runQueryProcess(
  database: string,
  sql: string,
  format: QueryFormat,
  signal: AbortSignal,
  { program, time = limits.queryTimeout, memory = limits.queryMemory }: QueryProcessesOptions,
): Promise<QueryRows> {
  signal.throwIfAborted();
  // Without environment, a query can't see the keys of the service.
  const child = fork(program, {
    env: {},
    execArgv: [`--max-old-space-size=${Math.ceil(memory / 1024 ** 2)}`],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  let response: QueryResponse | null = null;
  let isLate = false;
  const kill = (): void => void child.kill('SIGKILL');
  const timer = setTimeout(() => {
    isLate = true;
    kill();
  }, time);
  signal.addEventListener('abort', kill, { once: true });
  child.once('message', (message) => {
    response = message as QueryResponse;
    kill();
  });
  const request: QueryRequest = {
    database,
    sql,
    format,
    rows: limits.queryRows,
    characters: limits.queryCharacters,
    memory,
  };
  try {
    const end = await new Promise<string>((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code, name) => resolve(name ?? `exit code ${code}`));
      // A child that has already ended reports it with `exit`.
      child.send(request, () => undefined);
    });
    signal.throwIfAborted();
    return requireRows(response, end, isLate ? time : null);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', kill);
  }
}

function requireRows(response: QueryResponse | null, end: string, time: number | null): QueryRows {
  if (response !== null && !('reason' in response)) return response;
  const parameter = 'sql';
  if (time !== null)
    throw new Problem(422, `The query took longer than ${time / 1000} s. Read fewer rows or tables at a time.`, {
      parameter,
    });
  if (response === null) {
    // The memory watch, the system and V8 end a process in these two ways.
    if (end === 'SIGKILL' || end === 'SIGABRT') throw new Problem(413, tooMuchMemory, { parameter });
    throw new Problem(422, `The query crashed (${end}). The service is not affected.`, { parameter });
  }
  if (response.reason === 'failed') throw new Error(response.message);
  if (response.reason === 'memory') throw new Problem(413, tooMuchMemory, { parameter });
  throw new Problem(response.reason === 'size' ? 413 : 422, response.message, { parameter });
}

const tooMuchMemory = 'The query needs more memory than the service allows. Read fewer rows or columns at a time.';
