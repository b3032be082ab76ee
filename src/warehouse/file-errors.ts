/** Explains what the file system or DuckDB says about a warehouse: no space, no memory, too few open files, no permission, a broken disk. */

import { systemCode, RekapError, systemReason, tooFewFiles, type ErrorCode } from '../errors.ts';

/** A failure: how the system's code and call or the message show it, and what it is for the user. */
interface Failure {
  /** Matches the system's "EEXIST mkdir PATH: ..." and DuckDB's messages. */
  readonly said: RegExp;
  readonly code: ErrorCode;
  /** @param path The file or folder that the error names; the warehouse where it names none. */
  readonly what: (warehouse: string, path: string, error: Error) => string;
  readonly next: string;
}

const tooLarge = /^EFBIG|file too large/i;
const noSpace = /^(ENOSPC|EDQUOT)|no space left|disk quota exceeded/i;
/** DuckDB's appender leaves out what kind of error it is. */
const noMemory = /^Out of Memory Error|could not allocate block|failed to (?:allocate data|pin block)/;
/** How DuckDB names a file that is gone. */
const missing = /Cannot open (?:file|database) "([^"]+)".*(?:No such file or directory|does not exist)/;

/** The first that fits is told. */
const failures: readonly Failure[] = [
  {
    said: tooLarge,
    code: 'disk-full',
    what: (warehouse) => `A file of the warehouse ${warehouse} would exceed the maximum file size of this system.`,
    next: 'Nothing was published. Raise the file size limit (ulimit -f).',
  },
  {
    said: noSpace,
    code: 'disk-full',
    what: (warehouse) => `The disk of the warehouse ${warehouse} is full: no space or no inodes are left.`,
    next: 'Nothing was published. Free some space. To remove all snapshots and responses except the newest, run "rekap snapshots prune --keep 1".',
  },
  {
    said: noMemory,
    code: 'out-of-memory',
    what: () => 'The tables of the snapshot exceed the memory limit of DuckDB.',
    next: 'Nothing was published. Sync fewer datasets at a time with --dataset, or fewer partitions, and please report this problem.',
  },
  {
    // Places such as /proc say ENOENT where nothing can be made.
    said: /^(EACCES|EPERM|EROFS|ENOENT mkdir)\b|permission denied|read-only file system/i,
    code: 'warehouse',
    what: (warehouse, _path, error) =>
      `The warehouse ${warehouse} is not writable${systemCode(error) === 'unknown' ? '' : `: ${systemReason(error)}`}.`,
    next: 'Correct its permissions, or choose another folder.',
  },
  {
    said: new RegExp(`^ENOENT \\w+ [^:]|${missing.source}`),
    code: 'warehouse',
    what: (_warehouse, path) => `${path} disappeared while rekap was using the warehouse.`,
    next: 'Nothing was published. Find out who else writes to this folder, then run the command again.',
  },
  {
    said: /^(ENOTDIR|EEXIST mkdir)\b/,
    code: 'warehouse',
    what: (warehouse, path, error) =>
      // Where a folder cannot be made below a file, the system names the folder and not the file.
      `${systemCode(error) === 'EEXIST' ? path : `The warehouse ${warehouse}, or a part of it,`} is not a folder.`,
    next: 'Move the file, or choose another folder with --warehouse.',
  },
  {
    said: /^(ELOOP|ENAMETOOLONG)/,
    code: 'warehouse',
    what: (warehouse, _path, error) => `The path of the warehouse ${warehouse} cannot be used: ${systemReason(error)}.`,
    next: 'Choose another folder with --warehouse.',
  },
  {
    said: /input\/output error|fsync failed/i,
    code: 'file',
    what: (warehouse, _path, error) =>
      `DuckDB failed to read or write a file of the warehouse ${warehouse}: ${error.message.split('\n')[0]}`,
    next: 'Check the disk, then run the command again.',
  },
];

/** The error itself, or one that says what was wrong with the warehouse's folder. */
export function explainFileError(error: unknown, warehouse: string): unknown {
  const limit = tooFewFiles(error);
  if (limit !== null) return limit;
  if (error instanceof RekapError || !(error instanceof Error)) return error;
  const said = saidBy(error);
  const failure = failures.find((one) => one.said.test(said));
  if (failure === undefined) return failedFile(error) ?? error;
  const path = 'path' in error ? String(error.path) : (missing.exec(error.message)?.[1] ?? warehouse);
  return new RekapError(failure.code, failure.what(warehouse, path, error), failure.next, { cause: error });
}

function saidBy(error: Error): string {
  const code = systemCode(error);
  if (code === 'unknown') return error.message;
  const { syscall = '', path = '' } = error as NodeJS.ErrnoException;
  return `${code} ${syscall} ${path}: ${error.message}`;
}

/** Why a file cannot grow: it is as large as the system lets files be, or its disk or quota is used up. Null for any other error. */
export function whyDiskIsFull(error: Error): 'size' | 'space' | null {
  const said = saidBy(error);
  return tooLarge.test(said) ? 'size' : noSpace.test(said) ? 'space' : null;
}

/** Whether DuckDB had no memory left that it may take. */
export function isOutOfMemory({ message }: Error): boolean {
  return noMemory.test(message);
}

/** Whether the system keeps this user from a file or folder, which says nothing about what is in it. */
export function isForbidden(error: unknown): boolean {
  return ['EACCES', 'EPERM'].includes(systemCode(error));
}

/** The error for a part of a warehouse that this user may not read. */
export function forbidden(path: string, error: unknown): RekapError {
  return new RekapError(
    'warehouse-forbidden',
    `${path} cannot be read: ${systemReason(error)}.`,
    'Give this user read permission, or run the command as the owner of the warehouse.',
    { cause: error },
  );
}

/** The error for a file that the system could not open, read, write or rename for another reason; null where it is no such failure. */
export function failedFile(error: unknown): RekapError | null {
  if (!(error instanceof Error) || !('path' in error && 'syscall' in error)) return null;
  const what = `The system failed to ${String(error.syscall)} ${String(error.path)}: ${systemReason(error)}.`;
  return new RekapError('file', what, 'Check the disk, then run the command again.', { cause: error });
}
