/** Opens the source for a run: over HTTP, every answer landed, with what broken-off runs have landed before. */

import type { OpenedSource } from './fetch-and-load.ts';
import { closeAll, orClose } from '../close-all.ts';
import { createHttpTransport } from '../extract/ask/http-transport.ts';
import { createSourceClient } from '../extract/ask/source-client.ts';
import { extract } from '../extract/extract.ts';
import { openLanding } from '../land/landing.ts';
import type { RunFile } from '../land/run-file.ts';
import { landVerdicts } from '../land/verdicts.ts';
import type { Project } from '../pipeline.ts';
import { openResumedAnswers } from './resume.ts';
import { readVersion } from '../version.ts';
import { historyOf } from '../publish/manifest.ts';
import type { Run } from './run.ts';
import type { Snapshot } from '../warehouse/warehouse.ts';

/** Bytes of one answer. */
const maxAnswerBytes = 64 * 1024 * 1024;
/** Bytes of answers that may wait in memory until their district is proved and built. */
const heldBytes = 48 * 1024 * 1024;
/** Twice the polling stations of the nation and more; a source that brings more does not come to an end. */
const maxRecords = 2_000_000;

export async function askSource(run: Run): Promise<OpenedSource> {
  const { options, around, signal } = run;
  const resumed = await openResumedAnswers(run);
  const landing = await orClose([resumed], () => openLanding(run.landing, describeRun(run)));
  // A landing that is not closed would keep the process from ending.
  return orClose([landing, resumed], async () => {
    const transport = createHttpTransport({ ...options, connections: options.concurrency, maxAnswerBytes });
    const client = createSourceClient(options, { ...around, transport, land: landing.land, resumed, signal });
    const readings = extract({
      pipelines: run.asked,
      client,
      clock: around.clock,
      report: around.report,
      concurrency: options.concurrency,
      pageSize: options.pageSize,
      wanted: options.districts,
      knownBefore: knownDistricts(run.previous),
      reference: run.project.referenceDistricts,
      expected: expectedRecords(run.project, run.previous),
      acceptChanges: options.acceptChanges,
      heldBytes,
      maxRecords,
      signal,
    });
    return {
      client,
      readings: landVerdicts(run.landing, readings, run.warnings),
      close: () => closeAll([client, resumed, landing]),
    };
  });
}

/** Districts that had records in the snapshot before. */
function knownDistricts(previous: Snapshot | null): number[] {
  const verdicts = Object.values(previous?.manifest.datasets ?? {}).flatMap(({ districts }) => districts);
  return [
    ...new Set(
      verdicts.filter(({ received }) => received > 0).flatMap(({ district }) => (district === null ? [] : [district])),
    ),
  ];
}

/** As many as each table had in the snapshot before; where it had none, as many as the law gives it. */
function expectedRecords({ pipelines, referenceRecords }: Project, previous: Snapshot | null): Record<string, number> {
  return Object.fromEntries(
    pipelines.map(({ table }) => [table, previous?.manifest.datasets[table]?.rows || referenceRecords]),
  );
}

/** What the run was asked, for a replay or for a run that goes on from it. */
function describeRun(run: Run): RunFile {
  const { options } = run;
  return {
    format: 2,
    run: run.id,
    started_at: run.startedAt.toISOString(),
    tool: { name: 'rekap', version: readVersion() },
    source: options.source,
    base_url: options.baseUrl,
    previous: run.previous?.id ?? null,
    previous_history: run.previous === null ? null : historyOf(run.previous.manifest),
    strict: options.strict,
    accept_changes: options.acceptChanges,
    accept_source: options.acceptSource,
    dry_run: options.dryRun,
    datasets: run.asked.map(({ table }) => table),
    districts: options.districts,
    page_size: options.pageSize,
  };
}
