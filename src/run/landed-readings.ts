/** Reads the accepted partitions of an earlier run from its landing, without requests and without proving them again. */

import { join } from 'node:path';
import { RekapError } from '../errors.ts';
import { noFigures } from '../source/source-client.ts';
import { ScanError } from '../source/decode/json-text.ts';
import { sliceRecords } from '../source/decode/record-index-builder.ts';
import { createPageScanner } from '../source/decode/page-scanner.ts';
import { responsesFile } from '../land/formats.ts';
import { openLandedRun, readVerdicts } from '../land/landed-run.ts';
import type { Project } from '../project/declaration.ts';
import type { Run } from '../publish/run.ts';
import type { OpenedSource } from './open-source.ts';
import type { AcceptedPage, AcceptedReading, Page } from '../stages.ts';

export async function openLandedReadings(run: Run): Promise<OpenedSource> {
  run.enter('fetch');
  const { figures, warnings, ...source } = await openAccepted(run.landing, run.project);
  // The warnings of the run also apply to its replay.
  for (const message of warnings) run.warn(message);
  run.figures = figures;
  return source;
}

/** Opens the accepted partitions of a landing. `figures` counts the pages that were read. */
export async function openAccepted(landing: string, project: Project) {
  const { verdicts, warnings } = await readVerdicts(landing);
  const landed = await openLandedRun(landing, null);
  const figures = { ...noFigures, fromLanding: 0 };
  const scan = createPageScanner(() => {});

  async function readPage(response: number, first: number, count: number): Promise<Page> {
    const { request, url, body } = await landed.response(response);
    const pipeline = project.pipelines.find(({ table }) => table === request.dataset);
    try {
      const page = pipeline && scan(pipeline, request, url, body);
      if (page !== undefined && first + count <= page.records.length) {
        figures.fromLanding += 1;
        return sliceRecords(page, first, count);
      }
    } catch (error) {
      if (!(error instanceof ScanError)) throw error;
    }
    throw new RekapError(
      'landing',
      `Line ${response + 1} of ${join(landing, responsesFile)} does not contain the records that the run accepted from it.`,
      'Choose another run, or run the sync again.',
    );
  }

  async function* readings(): AsyncGenerator<AcceptedReading> {
    for (const { accepted, ...verdict } of verdicts) {
      const pages = accepted.map(([response, first, count]): AcceptedPage => ({
        response,
        first,
        count,
        read: () => readPage(response, first, count),
        release: () => {},
      }));
      yield { verdict, pages };
    }
  }

  return { readings: readings(), close: () => landed.close(), figures, warnings };
}
