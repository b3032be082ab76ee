/** Compares the declared fields of a project with its sample. */

import { readFile } from 'node:fs/promises';
import { relative } from 'node:path';
import { DeclaredPlaces } from '../extract/declared-places.ts';
import type { AnyPipeline } from '../project/declaration.ts';
import { declarationError, type LocatedProblem } from '../project/declaration-error.ts';
import type { LoadedProject } from '../project/load-project.ts';
import { fileOf } from '../serve/record-source.ts';
import { createPageScanner } from '../source/decode/page-scanner.ts';
import { messageOf } from '../errors.ts';

/**
 * Returns the nullable columns whose field no record of the sample has. A project without a sample has none.
 *
 * @throws `pipeline-definition` for fields of other columns, with file and line.
 */
export async function checkSample({ pipelines, sampleFolder, files }: LoadedProject): Promise<string[]> {
  const problems: LocatedProblem[] = [];
  const warnings: string[] = [];
  for (const pipeline of pipelines) {
    const path = fileOf(sampleFolder, pipeline);
    const bytes = await readFile(path).catch(() => null);
    const file = files.get(pipeline.table);
    if (bytes === null || file === undefined) continue;
    const name = relative(sampleFolder, path);
    try {
      const places = notePlaces(pipeline, bytes);
      for (const { field, what } of places.missingFields(false))
        problems.push({ file, at: ['columns', field], what: `sample ${name}: ${what}` });
      for (const { what } of places.missingFields(true)) warnings.push(`${pipeline.table}: sample ${name}: ${what}.`);
    } catch (error) {
      problems.push({
        file,
        at: ['table', pipeline.table],
        what: `sample ${name} cannot be read: ${messageOf(error)}`,
      });
    }
  }
  if (problems.length > 0) throw declarationError(problems);
  return warnings;
}

function notePlaces(pipeline: AnyPipeline, bytes: Buffer): DeclaredPlaces {
  const { reportedCount: _count, ...rest } = pipeline;
  const list: AnyPipeline = { ...rest, paging: { by: 'none' }, format: 'json', records: '' };
  const places = new DeclaredPlaces(list);
  const request = { dataset: pipeline.table, partition: null, target: '' };
  places.note(createPageScanner(() => undefined)(list, request, '', bytes));
  return places;
}
