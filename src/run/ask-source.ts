/** Opens the source for a run: over HTTP, every answer landed, with what broken-off runs have landed before. */

import type { OpenedSource } from './fetch-and-load.ts';
import { closeAll, orClose } from '../close-all.ts';
import { createHttpTransport } from '../extract/ask/http-transport.ts';
import { createSourceClient } from '../extract/ask/source-client.ts';
import { openLanding } from '../land/landing.ts';
import type { RunFile } from '../land/run-file.ts';
import { openResumedAnswers } from './resume.ts';
import { readVersion } from '../version.ts';
import { historyOf } from '../publish/manifest.ts';
import type { Run } from './run.ts';

const maxAnswerBytes = 64 * 1024 * 1024;

export async function askSource(run: Run): Promise<OpenedSource> {
  const { options, around, signal } = run;
  const resumed = await openResumedAnswers(run);
  const landing = await orClose([resumed], () => openLanding(run.landing, describeRun(run)));
  // A landing that is not closed would keep the process from ending.
  return orClose([landing, resumed], async () => {
    const transport = createHttpTransport({ ...options, connections: options.concurrency, maxAnswerBytes });
    const client = createSourceClient(options, { ...around, transport, land: landing.land, resumed, signal });
    return { client, close: () => closeAll([client, resumed, landing]) };
  });
}

/** What the run was asked, for a replay or for a run that goes on from it. */
function describeRun(run: Run): RunFile {
  const { options } = run;
  return {
    format: 1,
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
    dapil: options.dapil,
    page_size: options.pageSize,
    known_districts: run.knownDistricts,
    reference_districts: run.referenceDistricts,
    expected_records: run.expectedRecords,
  };
}
