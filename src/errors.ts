/** Defines the failures that a user can see, each with a code, an exit code, a message and a next step. */

import { getSystemErrorMap } from 'node:util';

/** Exit codes of the command, and `exitCode` of a `RekapError`. */
export const ExitCode = {
  done: 0,
  unexpected: 1,
  usage: 2,
  gate: 3,
  source: 4,
  busy: 5,
  stale: 6,
  lastFailed: 7,
  bucket: 8,
  hungUp: 129,
  interrupted: 130,
  terminated: 143,
} as const;

/** Exit codes by failure. The comments become docs/reference/exit-codes.md. */
const failures = {
  /** An option, an environment variable, a config key or an argument is wrong. */
  usage: ExitCode.usage,
  /** A file that the options name, such as the key or the config file, cannot be used, or the API key is missing. */
  configuration: ExitCode.usage,
  /** A pipeline or project definition is inconsistent. rekap validates it when it loads the project. */
  'pipeline-definition': ExitCode.usage,
  /** The warehouse folder cannot be used, for example because it is a file or `current` is damaged. */
  warehouse: ExitCode.usage,
  /** This user does not have permission to read a part of the warehouse. The data may be intact. */
  'warehouse-forbidden': ExitCode.usage,
  /** The requested snapshot is not in the warehouse. */
  'snapshot-not-found': ExitCode.usage,
  /** The responses of the requested run are not stored. */
  'run-not-found': ExitCode.usage,
  /** The warehouse contains figures from a different source. */
  'source-mismatch': ExitCode.usage,
  /** The SQL is not a single read-only statement, or DuckDB refuses it. */
  query: ExitCode.usage,
  /** The data to serve is missing, or its records are malformed. */
  'served-data': ExitCode.usage,
  /** The source cannot be reached: the connection is refused, the host is unknown, or all attempts time out. */
  'source-unreachable': ExitCode.source,
  /** The source refused the API key (401 or 403). */
  'source-refused-key': ExitCode.source,
  /** The source responded with an error `status` that a retry does not fix. */
  'source-status': ExitCode.source,
  /** The source keeps refusing requests, or its Retry-After exceeds the time of the run. The run ends. */
  'source-refused-all': ExitCode.source,
  /** A response of the source does not have the declared shape. */
  envelope: ExitCode.source,
  /** A response exceeds the maximum size. */
  'response-too-large': ExitCode.source,
  /** The pages of one pass do not connect, or its end is uncertain. A later pass may succeed. */
  'broken-reading': ExitCode.source,
  /** Completeness cannot be proved with this source: it ignores the filter, returns one record per page, or never ends. */
  'unprovable-source': ExitCode.source,
  /** At least one partition could not be proved complete. Nothing is published. */
  incomplete: ExitCode.source,
  /** A run, probe, pull or verification exceeded its maximum duration. */
  'run-timeout': ExitCode.source,
  /** The stored responses of a run (its landing) cannot be read or created. */
  landing: ExitCode.unexpected,
  /** The quality gate refused to publish, for its `reasons`. The previous snapshot stays current. */
  gate: ExitCode.gate,
  /** The written data does not match the transformed data, or a snapshot is damaged. Nothing is published. */
  verification: ExitCode.unexpected,
  /** The disk is full, or a quota is exhausted. */
  'disk-full': ExitCode.unexpected,
  /** The system cannot open, read, write or rename a file of the warehouse, such as on a faulty disk. */
  file: ExitCode.unexpected,
  /** The tables of a snapshot exceed the memory limit of DuckDB. Nothing is published. */
  'out-of-memory': ExitCode.unexpected,
  /** The process reached a limit of the system, such as the number of open files. */
  'system-limit': ExitCode.unexpected,
  /** Another sync or replay is using the warehouse. */
  'warehouse-busy': ExitCode.busy,
  /** Another program has the DuckDB file of a snapshot open for writing, which locks out all readers. */
  'database-held': ExitCode.busy,
  /** A bucket cannot be reached, refuses a request, or is damaged. The current snapshots stay current. */
  bucket: ExitCode.bucket,
  /** Another push finished first, or the bucket contains a newer snapshot from another warehouse. The bucket is unchanged. */
  'bucket-conflict': ExitCode.bucket,
  /** An Iceberg catalog cannot be reached, refuses a request, or cannot do what rekap needs. Its tables are unchanged. */
  lake: ExitCode.bucket,
  /** Another publisher changed the tables of the catalog first, or they contain a newer snapshot of another warehouse. Nothing is changed. */
  'lake-conflict': ExitCode.busy,
  /** The catalog does not show whether it applied a commit, or the connection broke. All tables have changed, or none. */
  'lake-uncertain': ExitCode.bucket,
  /** A signal ended the run. The exit code shows which signal. */
  interrupted: ExitCode.interrupted,
} as const;

/** Code of a `RekapError`. docs/reference/exit-codes.md describes each. */
export type ErrorCode = keyof typeof failures;

interface Details {
  readonly cause?: unknown;
  readonly status?: number;
  readonly reasons?: readonly string[];
  readonly exitCode?: number;
}

/** An expected failure, as opposed to a bug in rekap. */
export class RekapError extends Error {
  override readonly name = 'RekapError';
  readonly code: ErrorCode;
  readonly exitCode: number;
  /** The next step for the user; empty if there is nothing to do. */
  readonly next: string;
  /** HTTP status of `source-status`; otherwise 0. */
  readonly status: number;
  readonly reasons: readonly string[];

  constructor(code: ErrorCode, message: string, next = '', details: Details = {}) {
    super(message, details);
    this.code = code;
    this.exitCode = details.exitCode ?? failures[code];
    this.next = next;
    this.status = details.status ?? 0;
    this.reasons = details.reasons ?? [];
  }
}

/** Returns whether an error is an expected failure, with one of these codes if any are given. */
export function isRekapError(error: unknown, ...codes: readonly ErrorCode[]): error is RekapError {
  return error instanceof RekapError && (codes.length === 0 || codes.includes(error.code));
}

const endings = {
  SIGHUP: { message: 'Hung up: the terminal was closed.', exitCode: ExitCode.hungUp },
  SIGINT: { message: 'Interrupted.', exitCode: ExitCode.interrupted },
  SIGTERM: { message: 'Terminated.', exitCode: ExitCode.terminated },
} as const;

export function interruptedBy(
  signal: keyof typeof endings,
  next = 'Published data is unchanged. Run the command again at any time.',
): RekapError {
  const { message, exitCode } = endings[signal];
  return new RekapError('interrupted', message, next, { exitCode });
}

/** @param what What has a time limit, such as "sync". */
export function tookTooLong(what: string, milliseconds: number, unchanged = ''): RekapError {
  const next = `${unchanged}Allow more time with --max-duration.`;
  return new RekapError('run-timeout', `The ${what} did not finish within ${Math.round(milliseconds / 1000)} s.`, next);
}

export function gateRefusal(reasons: readonly string[], next: string): RekapError {
  const lines = ['The quality gate refused to publish:', ...reasons.map((reason) => `  - ${reason}`)];
  return new RekapError('gate', lines.join('\n'), next, { reasons });
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Returns the system's reason for an error, such as "permission denied (EACCES)". */
export function systemReason(error: unknown): string {
  const number = error instanceof Error && 'errno' in error ? Number(error.errno) : Number.NaN;
  const description = getSystemErrorMap().get(number)?.[1];
  return description === undefined ? systemCode(error) : `${description} (${systemCode(error)})`;
}

/** Returns the system's code of an error, such as ENOENT; 'unknown' if it has none. */
export function systemCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown';
}

/** Returns the error for the limit of open files if the error or one of its causes shows it; null otherwise. */
export function explainSystemLimit(error: unknown): RekapError | null {
  const more = 'raise the limit, such as with "ulimit -n 1024", or close programs that have many files open';
  let inner = error;
  while (inner instanceof Error) {
    const code = systemCode(inner);
    if (code === 'EMFILE' || code === 'ENFILE' || /^IO Error:.*too many open files/is.test(inner.message))
      return new RekapError('system-limit', 'rekap reached the limit of open files.', `To continue, ${more}.`, {
        cause: error,
      });
    // Node also reports this for a module that exists if it can't open its package.json.
    if (code === 'ERR_MODULE_NOT_FOUND')
      return new RekapError(
        'system-limit',
        `A part of rekap cannot be loaded: ${inner.message}.`,
        `Install rekap again. If its files are complete, ${more}.`,
        { cause: error },
      );
    inner = inner instanceof AggregateError ? inner.errors[0] : inner.cause;
  }
  return null;
}
