/** The functions `sync` and `replay` of the public API, with defaults for all optional settings. */

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

type GivenContext = Partial<SyncContext>;

/** Options of a sync. `SyncOptions` describes the optional ones. */
export interface SyncSettings extends Partial<Omit<SyncOptions, 'apiKey'>>, GivenContext {
  readonly baseUrl: string;
  readonly apiKey: string | Secret;
  /** Folder of the warehouse. It is created if it doesn't exist. */
  readonly warehouse: string;
  readonly project?: Project & { readonly reportModule?: string | null };
}

export interface ReplaySettings extends Partial<ReplayOptions>, GivenContext {
  readonly warehouse: string;
}

/**
 * Copies the data of the source into the warehouse and publishes it as a snapshot.
 *
 * @throws RekapError with a `code`, an `exitCode` and the `next` step. The previous snapshot then stays unchanged.
 */
export async function sync(settings: SyncSettings): Promise<SyncResult> {
  const { context, options } = split(settings);
  const { baseUrl, apiKey, project = await loadProject() } = settings;
  const secret = apiKey instanceof Secret ? apiKey : new Secret(apiKey);
  return syncProject(project, { ...syncDefaults, source: baseUrl, ...options, apiKey: secret }, context);
}

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
