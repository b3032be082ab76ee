/** Opens the sample of a project, and explains how to make one if it is missing. */

import { isRekapError, RekapError, systemCode } from '../errors.ts';
import type { LoadedProject } from '../project/load-project.ts';
import { openFolderSource, type RecordSource } from '../serve/record-source.ts';

/** @throws `served-data` if the sample is missing or can't be read. */
export async function openSample({ name, sampleFolder, pipelines }: LoadedProject): Promise<RecordSource> {
  try {
    return await openFolderSource(sampleFolder, pipelines);
  } catch (error) {
    const { cause } = error as Error;
    if (!isRekapError(error, 'served-data') || systemCode(cause) !== 'ENOENT') throw error;
    throw new RekapError(
      'served-data',
      `The project ${name} has no sample: ${(cause as NodeJS.ErrnoException).path} does not exist.`,
      'Write some records of the source into this file, or into <table>.json beside it, as a JSON array. "rekap probe" drafts a pipeline with its sample.',
      { cause },
    );
  }
}
