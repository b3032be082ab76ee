/** Runs the extraction over a simulated source and gives what it delivered, named and counted. */

import type { ExtractOptions } from '../../src/extract/extract-options.ts';
import { extract } from '../../src/extract/extract.ts';
import { readInteger, readText } from '../../src/kinds/read-field.ts';
import type { AnyPipeline } from '../../src/project/declaration.ts';
import type { Verdict } from '../../src/stages.ts';
import type { RunEvent } from '../../src/runtime/context.ts';
import { voters } from './bundled.ts';
import { manualClock } from '../../src/testing/manual-clock.ts';
import type { SimulatedSource } from './simulated-source.ts';

export interface Extracted {
  readonly verdicts: readonly Verdict[];
  /** `partition regency people`, as delivered, repeats and all. */
  readonly delivered: readonly string[];
  readonly warnings: readonly string[];
  readonly requests: number;
}

const columns = Object.keys(voters.columns);
const regency = columns.indexOf('regency');
const partition = columns.indexOf('dapil_id');
const total = columns.indexOf('grand_total');

/** What differs from a plain run; a number stands for the partition of that name. */
export interface ExtractSettings extends Partial<Omit<ExtractOptions, 'before' | 'scopes'>> {
  readonly wanted?: readonly number[] | null;
  readonly knownBefore?: readonly number[];
  readonly reference?: readonly number[];
}

/** @param settings What differs from a plain run: four requests at once, ten records a page, no snapshot before. */
export async function runExtract(source: SimulatedSource, settings: ExtractSettings = {}): Promise<Extracted> {
  const warnings: string[] = [];
  const report = (event: RunEvent): void => void (event.kind === 'warning' && warnings.push(event.message));
  const found = await collect({ client: source, report, ...settings });
  return { ...found, warnings, requests: source.requests.length };
}

/** The pipeline with these partitions declared. */
function withReference(pipeline: AnyPipeline, values: readonly number[]): AnyPipeline {
  const known = { from: 'list', values: values.map(String) } as const;
  return { ...pipeline, partition: { ...pipeline.partition!, values: known } };
}

/** Extracts, and takes every page as it comes. */
export async function collect(
  {
    wanted = null,
    knownBefore = [],
    reference = [],
    ...settings
  }: ExtractSettings & Pick<ExtractOptions, 'client' | 'report'>,
  meanwhile: () => unknown = () => {},
): Promise<Pick<Extracted, 'verdicts' | 'delivered'> & { readonly byDataset: ReadonlyMap<string, readonly string[]> }> {
  const { pipelines: _pipelines, ...rest } = settings;
  const delivered: string[] = [];
  const byDataset = new Map<string, string[]>();
  const verdicts: Verdict[] = [];
  const readings = extract({
    pipelines: (settings.pipelines ?? [voters]).map((pipeline) => withReference(pipeline, reference)),
    clock: manualClock(new Date(0)),
    concurrency: 4,
    pageSize: 10,
    scopes: new Map(
      wanted === null ? [] : (settings.pipelines ?? [voters]).map(({ table }) => [table, { only: wanted.map(String) }]),
    ),
    windows: new Map(),
    before: Object.fromEntries((settings.pipelines ?? [voters]).map(({ table }) => [table, knownBefore.map(String)])),
    baseUrl: 'http://source.test',
    expected: {},
    acceptChanges: false,
    contentKey: '0123456789abcdef',
    heldBytes: 1_000_000,
    maxRecords: 300,
    signal: new AbortController().signal,
    ...rest,
  });
  for await (const { verdict, pages } of readings) {
    verdicts.push(verdict);
    await meanwhile();
    for (const accepted of pages) {
      const page = await accepted.read();
      accepted.release();
      for (let row = 0; row < page.records.length; row += 1) {
        const name = `${readInteger(page, row, partition)} ${readText(page, row, regency)} ${readInteger(page, row, total)}`;
        delivered.push(name);
        byDataset.set(verdict.dataset, [...(byDataset.get(verdict.dataset) ?? []), name]);
      }
    }
  }
  return { verdicts, delivered, byDataset };
}
