/** Explains errors of the file system and DuckDB in a warehouse, such as a full disk or missing permissions. */

import { systemCode, RekapError, systemReason, explainSystemLimit, type ErrorCode } from '../errors.ts';

interface Failure {
  /** Matches the system's "EEXIST mkdir PATH: ..." and DuckDB's messages. */
  readonly pattern: RegExp;
  readonly code: ErrorCode;
  /** @param path The file or folder that the error names, or the warehouse. */
  readonly what: (warehouse: string, path: string, error: Error) => string;
  readonly next: string;
}

const tooLarge = /^EFBIG|file too large/i;
const noSpace = /^(ENOSPC|EDQUOT)|no space left|disk quota exceeded/i;
/** DuckDB's appender leaves out the kind of error. */
const noMemory = /^Out of Memory Error|could not allocate block|failed to (?:allocate data|pin block)/;
const missing = /Cannot open (?:file|database) "([^"]+)".*(?:No such file or directory|does not exist)/;

const failures: readonly Failure[] = [
  {
    pattern: tooLarge,
    code: 'disk-full',
    what: (warehouse) => `A file of the warehouse ${warehouse} would exceed the maximum file size of this system.`,
    next: 'Nothing was published. Raise the file size limit (ulimit -f).',
  },
  {
    pattern: noSpace,
    code: 'disk-full',
    what: (warehouse) => `The disk of the warehouse ${warehouse} is full: no space or no inodes are left.`,
    next: 'Nothing was published. Free some space. You can remove the oldest folders in snapshots and landing, but not the current snapshot.',
  },
  {
    pattern: noMemory,
    code: 'out-of-memory',
    what: () => 'The tables of the snapshot exceed the memory limit of DuckDB.',
    next: 'Nothing was published. Allow more with --memory, or sync fewer datasets at a time with --dataset.',
  },
  {
    // File systems such as /proc report ENOENT if nothing can be created.
    pattern: /^(EACCES|EPERM|EROFS|ENOENT mkdir)\b|permission denied|read-only file system/i,
    code: 'warehouse',
    what: (warehouse, _path, error) =>
      `The warehouse ${warehouse} is not writable${systemCode(error) === 'unknown' ? '' : `: ${systemReason(error)}`}.`,
    next: 'Correct its permissions, or choose another folder.',
  },
  {
    pattern: new RegExp(`^ENOENT \\w+ [^:]|${missing.source}`),
    code: 'warehouse',
    what: (_warehouse, path) => `${path} disappeared while rekap was using the warehouse.`,
    next: 'Nothing was published. Find out who else writes to this folder, then run the command again.',
  },
  {
    pattern: /^(ENOTDIR|EEXIST mkdir)\b/,
    code: 'warehouse',
    what: (warehouse, path, error) =>
      // For a folder below a file, the system names the folder instead of the file.
      `${systemCode(error) === 'EEXIST' ? path : `The warehouse ${warehouse}, or a part of it,`} is not a folder.`,
    next: 'Move the file, or choose another folder with --warehouse.',
  },
  {
    pattern: /^(ELOOP|ENAMETOOLONG)/,
    code: 'warehouse',
    what: (warehouse, _path, error) => `The path of the warehouse ${warehouse} cannot be used: ${systemReason(error)}.`,
    next: 'Choose another folder with --warehouse.',
  },
  {
    pattern: /input\/output error|fsync failed/i,
    code: 'file',
    what: (warehouse, _path, error) =>
      `DuckDB failed to read or write a file of the warehouse ${warehouse}: ${error.message.split('\n')[0]}`,
    next: 'Check the disk, then run the command again.',
  },
];

/** Returns an error that explains the failure of the warehouse's folder, or the error itself. */
export function explainFileError(error: unknown, warehouse: string): unknown {
  const limit = explainSystemLimit(error);
  if (limit !== null) return limit;
  if (error instanceof RekapError || !(error instanceof Error)) return error;
  const text = errorText(error);
  const failure = failures.find((one) => one.pattern.test(text));
  if (failure === undefined) return failedFile(error) ?? error;
  const path = 'path' in error ? String(error.path) : (missing.exec(error.message)?.[1] ?? warehouse);
  return new RekapError(failure.code, failure.what(warehouse, path, error), failure.next, { cause: error });
}

function errorText(error: Error): string {
  const code = systemCode(error);
  if (code === 'unknown') return error.message;
  const { syscall = '', path = '' } = error as NodeJS.ErrnoException;
  return `${code} ${syscall} ${path}: ${error.message}`;
}

/** Returns whether a file exceeds the maximum file size or the disk or quota is full. Null for other errors. */
export function whyDiskIsFull(error: Error): 'size' | 'space' | null {
  const text = errorText(error);
  return tooLarge.test(text) ? 'size' : noSpace.test(text) ? 'space' : null;
}

export function isOutOfMemory({ message }: Error): boolean {
  return noMemory.test(message);
}

export function isForbidden(error: unknown): boolean {
  return ['EACCES', 'EPERM'].includes(systemCode(error));
}

export function forbidden(path: string, error: unknown): RekapError {
  return new RekapError(
    'warehouse-forbidden',
    `${path} cannot be read: ${systemReason(error)}.`,
    'Give this user read permission, or run the command as the owner of the warehouse.',
    { cause: error },
  );
}

/** Returns the error for a file that the system failed to open, read, write or rename. Null for other errors. */
export function failedFile(error: unknown): RekapError | null {
  if (!(error instanceof Error) || !('path' in error && 'syscall' in error)) return null;
  const what = `The system failed to ${String(error.syscall)} ${String(error.path)}: ${systemReason(error)}.`;
  return new RekapError('file', what, 'Check the disk, then run the command again.', { cause: error });
}
