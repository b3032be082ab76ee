/** What a sync goes by where nothing else is said, on the command line and in a program. */

import type { SyncOptions } from './sync-options.ts';

export const syncDefaults = {
  districts: null,
  datasets: null,
  concurrency: 4,
  pageSize: 1000,
  timeout: 30_000,
  maxAttempts: 6,
  maxDuration: 3_600_000,
  strict: false,
  acceptChanges: false,
  acceptSource: false,
  keep: 7,
  keepLanding: null,
  resumeWithin: null,
  dryRun: false,
} as const satisfies Omit<SyncOptions, 'warehouse' | 'baseUrl' | 'source' | 'apiKey'>;
