/** Explains what the file system or DuckDB says about a warehouse: no space, no memory, too few open files, no permission, a file in a folder's place. */

import { statfsSync, type StatsFs } from 'node:fs';
import { systemCode, RekapError, systemReason, tooFewFiles } from '../errors.ts';

/** How DuckDB says it. */
const missingFile = /Cannot open (?:file|database) "([^"]+)".*(?:No such file or directory|does not exist)/;
/** The same; an appender leaves out what kind of error it is. */
const lackOfMemory = /^Out of Memory Error|could not allocate block|failed to (?:allocate data|pin block)/;

/** The same, where the disk fails. */
const failedDatabase = /input\/output error|fsync failed/i;
const checkDisk = 'Check the disk, then run it again.';

/** Why a file cannot grow: it is as large as the system lets files be, or its disk or quota is used up. Null for any other error. */
export function whyDiskIsFull(error: Error): 'size' | 'space' | null {
  const code = systemCode(error);
  const { message } = error;
  if (code === 'EFBIG' || /file too large/i.test(message)) return 'size';
  const isSpent = code === 'ENOSPC' || code === 'EDQUOT' || /no space left|disk quota exceeded/i.test(message);
  return isSpent ? 'space' : null;
}

/**
 * Whether a file system that is full lacks inodes rather than space. What a failed run had written may have been removed by now, so that
 * there are a few again: of the two it has run out of that of which the smaller part is free. One that counts no inodes says it has 0 of 0.
 */
export function lacksInodes(path: string, look: (path: string) => StatsFs = statfsSync): boolean {
  try {
    const { files, ffree, blocks, bavail } = look(path);
    return files > 0 && ffree / files < bavail / blocks;
  } catch {
    return false;
  }
}

/** Whether the system keeps this user from a file or folder, which says nothing about what is in it. */
export function isForbidden(error: unknown): boolean {
  return ['EACCES', 'EPERM'].includes(systemCode(error));
}

/** Whether DuckDB had no memory left that it may take. */
export function isOutOfMemory({ message }: Error): boolean {
  return lackOfMemory.test(message);
}

/** The error for a part of a warehouse that this user may not read. */
export function forbidden(path: string, error: unknown): RekapError {
  return new RekapError(
    'warehouse-forbidden',
    `${path} cannot be read: ${systemReason(error)}.`,
    'Let this user read the warehouse, or run this as the user who fills it.',
    { cause: error },
  );
}

/** The error itself, or one that says what was wrong with the warehouse's folder. */
export function explainFileError(error: unknown, warehouse: string): unknown {
  const limit = tooFewFiles(error);
  if (limit !== null) return limit;
  if (error instanceof RekapError || !(error instanceof Error)) return error;
  const code = systemCode(error);
  const isMakingFolder = 'syscall' in error && error.syscall === 'mkdir';
  const cause = { cause: error };
  const full = whyDiskIsFull(error);
  if (full === 'size') {
    return new RekapError(
      'disk-full',
      `A file of the warehouse ${warehouse} would be larger than this system allows.`,
      'Nothing was published. Raise the limit on file sizes (ulimit -f).',
      cause,
    );
  }
  if (full === 'space' && systemCode(error) !== 'EDQUOT' && lacksInodes(warehouse)) {
    return new RekapError(
      'disk-full',
      `The file system of the warehouse ${warehouse} can hold no more files: it has space left, but no inodes.`,
      'Nothing was published. Remove files there, or keep fewer snapshots and answers with --keep and --keep-landing.',
      cause,
    );
  }
  if (full === 'space') {
    return new RekapError(
      'disk-full',
      `There is no space left for the warehouse ${warehouse}.`,
      'Nothing was published. Free some space, or keep fewer snapshots with --keep.',
      cause,
    );
  }
  if (isOutOfMemory(error)) {
    return new RekapError(
      'out-of-memory',
      'The tables of the snapshot need more memory than DuckDB may take for them.',
      'Nothing was published. Ask for less at a time with --dataset or --dapil, and please report this.',
      cause,
    );
  }
  if (
    code === 'EACCES' ||
    code === 'EPERM' ||
    code === 'EROFS' ||
    // Places such as /proc say so, where nothing can be made.
    (code === 'ENOENT' && isMakingFolder) ||
    /permission denied|read-only file system/i.test(error.message)
  ) {
    return new RekapError(
      'warehouse',
      `The warehouse ${warehouse} is not writable${code === 'unknown' ? '' : `: ${systemReason(error)}`}.`,
      'Correct its permissions, or name another folder.',
      cause,
    );
  }
  const vanished = code === 'ENOENT' && 'path' in error ? String(error.path) : missingFile.exec(error.message)?.[1];
  if (vanished !== undefined) {
    return new RekapError(
      'warehouse',
      `${vanished} has vanished while the warehouse was worked on.`,
      'Nothing was published. See who else writes to this folder, then run it again.',
      cause,
    );
  }
  if (code === 'ENOTDIR' || (code === 'EEXIST' && isMakingFolder)) {
    // Where a folder cannot be made below a file, the system names the folder.
    const part = code === 'EEXIST' && 'path' in error && error.path !== warehouse ? String(error.path) : null;
    if (part === null)
      return new RekapError(
        'warehouse',
        `The warehouse ${warehouse} is not a folder.`,
        'Name a folder with --warehouse.',
        cause,
      );
    return new RekapError(
      'warehouse',
      `${part}, which is a part of the warehouse, is not a folder.`,
      'Move it away, or name another folder with --warehouse.',
      cause,
    );
  }
  if (code === 'ELOOP' || code === 'ENAMETOOLONG') {
    const why = code === 'ELOOP' ? 'leads to itself through its links' : 'is longer than this system allows';
    return new RekapError(
      'warehouse',
      `The path of the warehouse ${warehouse} ${why}.`,
      'Name another folder with --warehouse.',
      cause,
    );
  }
  if (failedDatabase.test(error.message))
    return new RekapError(
      'file',
      `DuckDB could not read or write a file of the warehouse ${warehouse}: ${error.message.split('\n')[0]!}`,
      checkDisk,
      cause,
    );
  return failedFile(error) ?? error;
}

/** The error for a file that the system could not open, read, write or rename, though it is not known why; null where it is no such failure. */
export function failedFile(error: unknown): RekapError | null {
  if (!(error instanceof Error) || !('path' in error && 'syscall' in error)) return null;
  return new RekapError(
    'file',
    `The system could not ${String(error.syscall)} ${String(error.path)}: ${systemReason(error)}.`,
    checkDisk,
    { cause: error },
  );
}
