/** One class per failure a user can see: what happened, where, what to do next, and its exit code. */

import { getSystemErrorMap } from 'node:util';

/** The exit codes of the command line; 0 is a published or unchanged snapshot. */
export const ExitCode = {
  done: 0,
  unexpected: 1,
  usage: 2,
  gate: 3,
  source: 4,
  busy: 5,
  hungUp: 129,
  interrupted: 130,
  terminated: 143,
} as const;

/** Any failure that is a message for the user and not a fault in rekap. */
export abstract class RekapError extends Error {
  abstract readonly exitCode: number;
  /** What the user can do next, as one sentence; empty where nothing is to be done. */
  readonly next: string;

  constructor(message: string, next = '', options: { cause?: unknown } = {}) {
    super(message, options);
    this.next = next;
    this.name = new.target.name;
  }
}

/** A flag, an environment variable, a config key or an argument is wrong. */
export class UsageError extends RekapError {
  readonly exitCode = ExitCode.usage;
}

/** The definition of a pipeline or a project contradicts itself; found when it is loaded. */
export class PipelineDefinitionError extends RekapError {
  readonly exitCode = ExitCode.usage;
}

/** The warehouse folder cannot be used: a file in its place, no permission, a damaged `current`. */
export class WarehouseError extends RekapError {
  readonly exitCode = ExitCode.usage;
}

/** The system keeps this user from a part of the warehouse, which says nothing about what is in it. */
export class WarehouseForbiddenError extends WarehouseError {}

/** A snapshot that was asked for is not in the warehouse. */
export class SnapshotNotFoundError extends RekapError {
  readonly exitCode = ExitCode.usage;
}

/** No answers of the run that was asked for are kept. */
export class RunNotFoundError extends RekapError {
  readonly exitCode = ExitCode.usage;
}

/** The warehouse was filled from another source than the one now given. */
export class SourceMismatchError extends RekapError {
  readonly exitCode = ExitCode.usage;
}

/** The SQL of a query is not a single reading statement, or DuckDB refuses it. */
export class QueryError extends RekapError {
  readonly exitCode = ExitCode.usage;
}

/** Data that the service should serve is missing or not in the records' shape. */
export class ServedDataError extends RekapError {
  readonly exitCode = ExitCode.usage;
}

/** The source cannot be reached: nothing listens, no such host, or every attempt timed out. */
export class SourceUnreachableError extends RekapError {
  readonly exitCode = ExitCode.source;
}

/** The source refused the API key (401 or 403). */
export class SourceRefusedKeyError extends RekapError {
  readonly exitCode = ExitCode.source;
}

/** The source answered with a status that is no success and that trying again does not mend. */
export class SourceStatusError extends RekapError {
  readonly exitCode = ExitCode.source;
  readonly status: number;

  constructor(status: number, message: string, next = '') {
    super(message, next);
    this.status = status;
  }
}

/** The source refuses one request after another, whatever district they ask for, or asks for more patience than a run has; the run ends. */
export class SourceRefusedAllError extends RekapError {
  readonly exitCode = ExitCode.source;
}

/** The source's answer is not the documented envelope `{count, data}`. */
export class EnvelopeError extends RekapError {
  readonly exitCode = ExitCode.source;
}

/** One answer is larger than the bound on a response's size. */
export class ResponseTooLargeError extends RekapError {
  readonly exitCode = ExitCode.source;
}

/** The pages of one reading do not join, or its end is in doubt; the next reading may be better. */
export class BrokenReadingError extends RekapError {
  readonly exitCode = ExitCode.source;
}

/** The source pages in a way in which nothing can be proved: it ignores `id_dapil`, gives one record at a time, or comes to no end. */
export class UnprovableSourceError extends RekapError {
  readonly exitCode = ExitCode.source;
}

/** At least one district could not be proved complete; nothing is published. */
export class IncompleteError extends RekapError {
  readonly exitCode = ExitCode.source;
}

/** The whole run took longer than its bound. */
export class RunTimeoutError extends RekapError {
  readonly exitCode = ExitCode.source;
}

/** A landing cannot be read back, as by a missing file or bytes that do not fit their hash, or cannot be begun for want of a thread. */
export class LandingError extends RekapError {
  readonly exitCode = ExitCode.unexpected;
}

/** A quality gate refused to publish; the snapshot before stays. */
export class GateError extends RekapError {
  readonly exitCode = ExitCode.gate;
  /** Each reason of the refusal, as one sentence. */
  readonly reasons: readonly string[];

  constructor(message: string, reasons: readonly string[], next: string) {
    super([message, ...reasons.map((reason) => `  - ${reason}`)].join('\n'), next);
    this.reasons = reasons;
  }
}

/** What was written does not equal what was transformed; nothing is published. */
export class VerificationError extends RekapError {
  readonly exitCode = ExitCode.unexpected;
}

/** The disk is full or a quota is used up. */
export class DiskFullError extends RekapError {
  readonly exitCode = ExitCode.unexpected;
}

/** The system fails to open, read, write or rename a file of the warehouse, as it does on a disk that is broken. */
export class FileError extends RekapError {
  readonly exitCode = ExitCode.unexpected;
}

/** The tables of a snapshot need more memory than DuckDB may take for them; nothing is published. */
export class OutOfMemoryError extends RekapError {
  readonly exitCode = ExitCode.unexpected;
}

/** The system keeps from this process what it cannot work without, such as open files. */
export class SystemLimitError extends RekapError {
  readonly exitCode = ExitCode.unexpected;
}

/** Another sync holds this warehouse. */
export class WarehouseBusyError extends RekapError {
  readonly exitCode = ExitCode.busy;
}

/** Another program has a snapshot's DuckDB file open for writing, which keeps every reader out. */
export class DatabaseHeldError extends RekapError {
  readonly exitCode = ExitCode.busy;
}

const endings = {
  SIGHUP: { message: 'Hung up: the terminal is closed.', exitCode: ExitCode.hungUp },
  SIGINT: { message: 'Interrupted.', exitCode: ExitCode.interrupted },
  SIGTERM: { message: 'Terminated.', exitCode: ExitCode.terminated },
} as const;

/** A signal ended the run. */
export class InterruptedError extends RekapError {
  readonly exitCode: number;

  constructor(signal: keyof typeof endings, next = 'What was published stays as it was; run it again when you like.') {
    super(endings[signal].message, next);
    this.exitCode = endings[signal].exitCode;
  }
}

/** What an error says, or whatever else was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Why the system refused something, in its own words and by its code, such as "permission denied (EACCES)". */
export function systemReason(error: unknown): string {
  const number = error instanceof Error && 'errno' in error ? Number(error.errno) : Number.NaN;
  const words = getSystemErrorMap().get(number)?.[1];
  return words === undefined ? errorCode(error) : `${words} (${errorCode(error)})`;
}

/** The system's code of a file error, such as ENOENT; 'unknown' for anything else. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown';
}

/** The error for a process that may open no more files, where this failure or one that caused it says so; null for any other. */
export function tooFewFiles(error: unknown): SystemLimitError | null {
  const more = 'allow more open files, such as with "ulimit -n 1024", or close programs that hold many';
  let inner = error;
  while (inner instanceof Error) {
    const code = errorCode(inner);
    if (code === 'EMFILE' || code === 'ENFILE' || /^IO Error:.*too many open files/is.test(inner.message))
      return new SystemLimitError('The system lets rekap open no more files.', `To go on, ${more}.`, { cause: error });
    // Node says so too of a module that is there, when it cannot open what describes it.
    if (code === 'ERR_MODULE_NOT_FOUND')
      return new SystemLimitError(
        `A part of rekap cannot be loaded: ${inner.message}.`,
        `Install rekap again; where nothing is missing, ${more}.`,
        { cause: error },
      );
    inner = inner instanceof AggregateError ? inner.errors[0] : inner.cause;
  }
  return null;
}
