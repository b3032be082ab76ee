/** Transfers several files at a time. */

import pLimit from 'p-limit';

const filesAtOnce = 4;

/** Calls `transfer` for each file. After a failure, waits for running transfers and throws the first error. */
export async function transferAll<File>(
  files: readonly File[],
  transfer: (file: File) => Promise<void>,
  report: (done: number, files: number) => void,
): Promise<void> {
  const limit = pLimit(filesAtOnce);
  const failures: unknown[] = [];
  let done = 0;
  await limit.map(files, async (file) => {
    if (failures.length > 0) return;
    try {
      await transfer(file);
      done += 1;
      report(done, files.length);
    } catch (error) {
      failures.push(error);
    }
  });
  if (failures.length > 0) throw failures[0];
}
