/** Serves the sample figures on loopback, and syncs them to a temporary warehouse. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Secret } from '../source/secret.ts';
import type { LoadedProject } from '../project/load-project.ts';
import { syncDefaults } from '../publish/run.ts';
import { systemClock } from '../runtime/context.ts';
import { ApiKeys, generateApiKey } from '../serve/api-keys.ts';
import { startService } from '../serve/service.ts';
import { sync } from '../sync.ts';
import { openSample } from '../testing/open-sample.ts';

export async function startSample(project: LoadedProject) {
  const key = generateApiKey();
  const source = await openSample(project);
  const service = await startService({
    pipelines: project.pipelines,
    about: project,
    source,
    keys: new ApiKeys([key]),
    host: '127.0.0.1',
    port: 0,
  });
  return {
    url: service.url,
    apiKey: new Secret(key),
    async close() {
      await service.close();
      await source.close();
    },
  };
}

export async function syncSample(project: LoadedProject, signal: AbortSignal) {
  const folder = await mkdtemp(join(tmpdir(), 'rekap-sample-'));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  const service = await startSample(project);
  try {
    const options = { ...syncDefaults, warehouse: folder, baseUrl: service.url, source: 'sample', keepLanding: 0 };
    const context = { clock: systemClock, random: Math.random, report: () => undefined, signal };
    await sync(project, { ...options, apiKey: service.apiKey }, context);
    return { folder, remove };
  } catch (error) {
    await remove();
    throw error;
  } finally {
    await service.close();
  }
}
