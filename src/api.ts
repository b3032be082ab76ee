/** What a program calls: the commands sync and replay, with everything filled in that is not said. */

import { Secret } from './source/secret.ts';
import type { Project } from './project/declaration.ts';
import { loadProject } from './project/load-project.ts';
import { replay as replayRun } from './replay.ts';
import {
  type ReplayOptions,
  type SyncContext,
  syncDefaults,
  type SyncOptions,
  type SyncResult,
} from './run-options.ts';
import { systemClock } from './runtime/context.ts';
import { sync as syncProject } from './sync.ts';

/** The context of a run; all of it may be left out. */
type GivenContext = Partial<SyncContext>;

/** The options of a sync as `SyncOptions` describes them. */
export interface SyncSettings extends Partial<Omit<SyncOptions, 'apiKey'>>, GivenContext {
  /** Address of the service, without an endpoint. */
  readonly baseUrl: string;
  readonly apiKey: string | Secret;
  /** Folder of the warehouse; it is made where there is none. */
  readonly warehouse: string;
  /** What is moved; else the datasets of this package. */
  readonly project?: Project & { readonly reportModule?: string | null };
}

export interface ReplaySettings extends Partial<ReplayOptions>, GivenContext {
  readonly warehouse: string;
}

/**
 * Brings the source's data into the warehouse, whole and in one step.
 *
 * @throws RekapError with a `code`, an `exitCode` and the `next` step; the snapshot before then stays as it was.
 */
export async function sync(settings: SyncSettings): Promise<SyncResult> {
  const { context, options } = split(settings);
  const { baseUrl, apiKey, project = await loadProject() } = settings;
  const secret = apiKey instanceof Secret ? apiKey : new Secret(apiKey);
  return syncProject(project, { ...syncDefaults, source: baseUrl, ...options, apiKey: secret }, context);
}

/**
 * Builds the snapshot of an earlier run again from what the source answered then.
 *
 * @throws RekapError as `sync` does.
 */
export async function replay(settings: ReplaySettings): Promise<SyncResult> {
  const { context, options } = split(settings);
  const requested = {
    reportModule: null,
    run: null,
    into: null,
    strict: false,
    refuse: null,
    acceptChanges: false,
    acceptSource: false,
  };
  return replayRun({ ...requested, ...options }, context);
}

function split<Settings extends GivenContext>(settings: Settings) {
  const {
    clock = systemClock,
    random = Math.random,
    report = () => {},
    signal = new AbortController().signal,
    ...options
  } = settings;
  return { context: { clock, random, report, signal }, options };
}
