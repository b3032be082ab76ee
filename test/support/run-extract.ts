/** Runs the extraction over a simulated source and gives what it delivered, named and counted. */

import type { ExtractQuestion } from '../../src/extract/walk/extract-question.ts';
import { extract } from '../../src/extract/extract.ts';
import { readInteger, readText } from '../../src/records/fields.ts';
import type { Verdict } from '../../src/stages.ts';
import type { RunEvent } from '../../src/surroundings.ts';
import { voters } from '../../pipelines/voters.ts';
import type { SimulatedSource } from './simulated-source.ts';

export interface Extracted {
  readonly verdicts: readonly Verdict[];
  /** `dapil regency people`, as delivered, repeats and all. */
  readonly delivered: readonly string[];
  readonly warnings: readonly string[];
  readonly requests: number;
}

const columns = Object.keys(voters.columns);
const regency = columns.indexOf('regency');
const dapil = columns.indexOf('dapil_id');
const total = columns.indexOf('grand_total');

/** @param settings What differs from a plain run: four requests at once, ten records a page, no snapshot before. */
export async function runExtract(source: SimulatedSource, settings: Partial<ExtractQuestion> = {}): Promise<Extracted> {
  const delivered: string[] = [];
  const warnings: string[] = [];
  const verdicts = await extract({
    pipelines: [voters],
    client: source,
    clock: { now: () => new Date(0), monotonic: () => 0, sleep: async () => {} },
    report: (event: RunEvent) => {
      if (event.kind === 'warning') warnings.push(event.message);
    },
    concurrency: 4,
    pageSize: 10,
    wanted: null,
    knownBefore: [],
    expected: {},
    reference: [],
    heldBytes: 1_000_000,
    maxRecords: 300,
    signal: new AbortController().signal,
    async deliver(_pipeline, reading) {
      for (const readPage of reading.pages) {
        const page = await readPage();
        for (let row = 0; row < page.records.length; row += 1) {
          delivered.push(
            `${readInteger(page, row, dapil)} ${readText(page, row, regency)} ${readInteger(page, row, total)}`,
          );
        }
      }
    },
    ...settings,
  });
  return { verdicts, delivered, warnings, requests: source.requests.length };
}
