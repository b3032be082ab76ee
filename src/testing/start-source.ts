/** Starts a source on this machine that serves records as a project declares it, for tests of projects and programs. */

import { type GivenProject, resolveProject } from '../index.ts';
import { RekapError } from '../errors.ts';
import type { AnyPipeline, Project } from '../project/declaration.ts';
import type { Clock } from '../runtime/context.ts';
import { ApiKeys, generateApiKey } from '../serve/api-keys.ts';
import { type FaultName, type FaultValues, presetValues } from '../serve/faults/fault-list.ts';
import { buildRecordSet, fixedSource, readRecord, type RecordSource } from '../serve/record-source.ts';
import { startService } from '../serve/service.ts';
import { manualClock } from './manual-clock.ts';
import { openSample } from './open-sample.ts';

/** Records by table, as the source would return them. */
export type SourceRecords = Readonly<Record<string, readonly object[]>>;

/** Settings of a test source. All are optional. */
export interface SourceSettings {
  /** Default: the bundled project. */
  readonly project?: GivenProject;
  /** Default: the sample of the project. */
  readonly records?: SourceRecords;
  /** Faults by name, or a preset: `transient` has temporary faults, `hostile` has all. Default: none. */
  readonly faults?: FaultValues | 'transient' | 'hostile';
  /** The same seed and requests produce the same faults. Default: 1. */
  readonly seed?: number;
  /** Clock for slow responses. Default: one whose sleeps take no time. */
  readonly clock?: Clock;
}

/** A running test source. */
export interface TestSource {
  readonly url: string;
  /** The key that the source accepts. */
  readonly apiKey: string;
  /** Path and query of each request so far. */
  readonly requests: readonly string[];
  /** Responses so far by fault. */
  readonly faultCounts: ReadonlyMap<FaultName, number>;
  /** Replaces the records of some datasets. */
  setRecords(records: SourceRecords): void;
  /** Forgets all requests and fault counts, and undoes the changes of the fault `drift`. */
  restart(): void;
  /** Replaces the faults. */
  setFaults(faults: FaultValues | 'transient' | 'hostile'): void;
  close(): Promise<void>;
}

/**
 * Starts a source on a free port of the loopback address.
 *
 * @throws `usage` if records have an unknown table or a fault an invalid value; `served-data` if the sample can't be read.
 */
export async function startSource(settings: SourceSettings = {}): Promise<TestSource> {
  const { records, faults = {}, seed = 1, clock = manualClock() } = settings;
  const project = await resolveProject(settings.project);
  const { pipelines } = project;
  let source = records === undefined ? await openSampleOf(project) : sourceOf(records, pipelines, null);
  const requests: string[] = [];
  const faultCounts = new Map<FaultName, number>();
  const key = generateApiKey();
  const apiKey = project.auth !== null && 'basic' in project.auth ? `test:${key}` : key;
  let values = valuesOf(faults);
  const service = await startService({
    pipelines,
    about: project,
    source: { current: (pipeline) => source.current(pipeline), close: () => undefined },
    keys: new ApiKeys([apiKey]),
    host: '127.0.0.1',
    port: 0,
    onRequest: (target) => void requests.push(target),
    faults: {
      get values() {
        return values;
      },
      seed,
      clock,
      onFault: (name) => void faultCounts.set(name, (faultCounts.get(name) ?? 0) + 1),
    },
  });
  // A test that fails before it closes the source must still end.
  service.unref();
  return {
    url: service.url,
    apiKey,
    requests,
    faultCounts,
    setRecords(changed) {
      source = sourceOf(changed, pipelines, source);
    },
    restart() {
      requests.length = 0;
      faultCounts.clear();
      // Changes by faults end when the sets are others.
      source = fixedSource(new Map(pipelines.map((pipeline) => [pipeline.table, { ...source.current(pipeline) }])));
    },
    setFaults(changed) {
      values = valuesOf(changed);
    },
    close: () => service.close(),
  };
}

async function openSampleOf(project: Awaited<ReturnType<typeof resolveProject>>): Promise<RecordSource> {
  if ('sampleFolder' in project) return openSample(project);
  throw new RekapError(
    'usage',
    'The source has no records.',
    'Pass `records`, because a stored project has no sample.',
  );
}

function valuesOf(faults: FaultValues | 'transient' | 'hostile'): FaultValues {
  return typeof faults === 'string' ? presetValues(faults) : faults;
}

function sourceOf(records: SourceRecords, pipelines: Project['pipelines'], before: RecordSource | null): RecordSource {
  const unknown = Object.keys(records).find((table) => !pipelines.some((pipeline) => pipeline.table === table));
  if (unknown !== undefined)
    throw new RekapError(
      'usage',
      `The records name the table ${JSON.stringify(unknown)}, which the project does not declare.`,
      `Its tables are ${pipelines.map(({ table }) => table).join(', ')}.`,
    );
  return fixedSource(
    new Map(
      pipelines.map((pipeline) => {
        const own = records[pipeline.table];
        return [
          pipeline.table,
          own === undefined && before !== null ? before.current(pipeline) : setOf(own ?? [], pipeline),
        ];
      }),
    ),
  );
}

function setOf(records: readonly object[], pipeline: AnyPipeline) {
  return buildRecordSet(
    records.map((record) => readRecord(JSON.stringify(record), pipeline)),
    new Date(),
  );
}
