/** Every failure that a user can see has a code, an exit code, a message and a next step. */

import { getSystemErrorMap } from 'node:util';

/** The exit codes of the command line; 0 is a published or unchanged snapshot. */
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

/** What can fail, and the exit code of each. */
const failures = {
  /** A flag, an environment variable, a config key or an argument is wrong. */
  usage: ExitCode.usage,
  /** A file that the options name, such as the key or the config file, cannot be used, or the API key or the profile is missing. */
  configuration: ExitCode.usage,
  /** The definition of a pipeline or a project contradicts itself; found when it is loaded. */
  'pipeline-definition': ExitCode.usage,
  /** The warehouse folder cannot be used: a file in its place, a damaged `current`. */
  warehouse: ExitCode.usage,
  /** The system keeps this user from a part of the warehouse, which says nothing about what is in it. */
  'warehouse-forbidden': ExitCode.usage,
  /** A snapshot that was asked for is not in the warehouse. */
  'snapshot-not-found': ExitCode.usage,
  /** No answers of the run that was asked for are kept. */
  'run-not-found': ExitCode.usage,
  /** The warehouse was filled from another source than the one now given. */
  'source-mismatch': ExitCode.usage,
  /** The SQL of a query is not a single reading statement, or DuckDB refuses it. */
  query: ExitCode.usage,
  /** Data that the service should serve is missing or not in the records' shape. */
  'served-data': ExitCode.usage,
  /** The source cannot be reached: nothing listens, no such host, or every attempt timed out. */
  'source-unreachable': ExitCode.source,
  /** The source refused the API key (401 or 403). */
  'source-refused-key': ExitCode.source,
  /** The source answered with a `status` that is no success and that trying again does not mend. */
  'source-status': ExitCode.source,
  /** The source refuses one request after another, or asks for more patience than a run has; the run ends. */
  'source-refused-all': ExitCode.source,
  /** The source's answer is not the documented envelope `{count, data}`. */
  envelope: ExitCode.source,
  /** One answer is larger than the bound on a response's size. */
  'response-too-large': ExitCode.source,
  /** The pages of one reading do not join, or its end is in doubt; the next reading may be better. */
  'broken-reading': ExitCode.source,
  /** The source pages in a way in which nothing can be proved: it ignores `id_dapil`, gives one record at a time, or comes to no end. */
  'unprovable-source': ExitCode.source,
  /** At least one district could not be proved complete; nothing is published. */
  incomplete: ExitCode.source,
  /** The whole run took longer than its bound. */
  'run-timeout': ExitCode.source,
  /** A landing cannot be read back, or cannot be begun. */
  landing: ExitCode.unexpected,
  /** The quality gate refused to publish, with its `reasons`; the snapshot before stays. */
  gate: ExitCode.gate,
  /** What was written does not equal what was transformed; nothing is published. */
  verification: ExitCode.unexpected,
  /** The disk is full or a quota is used up. */
  'disk-full': ExitCode.unexpected,
  /** The system fails to open, read, write or rename a file of the warehouse, as it does on a disk that is broken. */
  file: ExitCode.unexpected,
  /** The tables of a snapshot need more memory than DuckDB may take for them; nothing is published. */
  'out-of-memory': ExitCode.unexpected,
  /** The system keeps from this process what it cannot work without, such as open files. */
  'system-limit': ExitCode.unexpected,
  /** Another sync holds this warehouse. */
  'warehouse-busy': ExitCode.busy,
  /** Another program has a snapshot's DuckDB file open for writing, which keeps every reader out. */
  'database-held': ExitCode.busy,
  /** A bucket cannot be reached, refuses, or does not hold what it should; what was current there and here stays so. */
  bucket: ExitCode.bucket,
  /** Another push was quicker, or the bucket holds a newer snapshot of somebody else; it stays. */
  'bucket-conflict': ExitCode.bucket,
  /** A signal ended the run; its exit code says which. */
  interrupted: ExitCode.interrupted,
} as const;

export type ErrorCode = keyof typeof failures;

interface Details {
  readonly cause?: unknown;
  /** The status of `source-status`. */
  readonly status?: number;
  /** Each reason of `gate`, as one sentence. */
  readonly reasons?: readonly string[];
  readonly exitCode?: number;
}

/** Any failure that is a message for the user and not a fault in rekap. */
export class RekapError extends Error {
  override readonly name = 'RekapError';
  readonly code: ErrorCode;
  readonly exitCode: number;
  /** What the user can do next, as one sentence; empty where nothing is to be done. */
  readonly next: string;
  /** 0 but in `source-status`. */
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

/** Whether it is one of these failures. */
export function isRekapError(error: unknown, ...codes: readonly ErrorCode[]): error is RekapError {
  return error instanceof RekapError && codes.includes(error.code);
}

const endings = {
  SIGHUP: { message: 'The terminal was closed.', exitCode: ExitCode.hungUp },
  SIGINT: { message: 'Interrupted.', exitCode: ExitCode.interrupted },
  SIGTERM: { message: 'Terminated.', exitCode: ExitCode.terminated },
} as const;

/** The end of a run by a signal. */
export function interruptedBy(
  signal: keyof typeof endings,
  next = 'The published data did not change. You can run the command again.',
): RekapError {
  const { message, exitCode } = endings[signal];
  return new RekapError('interrupted', message, next, { exitCode });
}

/** The gate's refusal, with each reason on a line of its own. */
export function gateRefusal(reasons: readonly string[], next: string): RekapError {
  const lines = ['The quality gate refuses to publish:', ...reasons.map((reason) => `  - ${reason}`)];
  return new RekapError('gate', lines.join('\n'), next, { reasons });
}

/** What an error says, or whatever else was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Why the system refused something, in its own words and by its code, such as "permission denied (EACCES)". */
export function systemReason(error: unknown): string {
  const number = error instanceof Error && 'errno' in error ? Number(error.errno) : Number.NaN;
  const words = getSystemErrorMap().get(number)?.[1];
  return words === undefined ? systemCode(error) : `${words} (${systemCode(error)})`;
}

/** The system's code of a file error, such as ENOENT; 'unknown' for anything else. */
export function systemCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown';
}

/** The error for a process that may open no more files, where this failure or one that caused it says so; null for any other. */
export function tooFewFiles(error: unknown): RekapError | null {
  const more = 'allow more open files, for example with "ulimit -n 1024", or close programs that have many files open';
  let inner = error;
  while (inner instanceof Error) {
    const code = systemCode(inner);
    if (code === 'EMFILE' || code === 'ENFILE' || /^IO Error:.*too many open files/is.test(inner.message))
      return new RekapError(
        'system-limit',
        'rekap cannot open more files, because the limit of the system is reached.',
        `To continue, ${more}.`,
        {
          cause: error,
        },
      );
    // Node says so too of a module that is there, when it cannot open what describes it.
    if (code === 'ERR_MODULE_NOT_FOUND')
      return new RekapError(
        'system-limit',
        `A part of rekap cannot be loaded: ${inner.message}.`,
        `Install rekap again. If no file is missing, ${more}.`,
        { cause: error },
      );
    inner = inner instanceof AggregateError ? inner.errors[0] : inner.cause;
  }
  return null;
}
