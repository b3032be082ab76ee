/** The bundled service with the sample figures, on loopback, which `sync --sample` goes to over HTTP. */

import { Secret } from '../extract/ask/secret.ts';
import type { Project } from '../pipeline.ts';
import { ApiKeys, generateApiKey } from '../serve/api-keys.ts';
import { openFolderSource } from '../serve/record-source.ts';
import { defaultMaxLimit, startService } from '../serve/service.ts';

/** A running service with the key that it accepts. */
export interface SampleService {
  readonly url: string;
  readonly apiKey: Secret;
  close(): Promise<void>;
}

export async function startSample({ pipelines, sampleFolder }: Project): Promise<SampleService> {
  const key = generateApiKey();
  const source = await openFolderSource(sampleFolder, pipelines);
  const service = await startService({
    pipelines,
    source,
    keys: new ApiKeys([key]),
    host: '127.0.0.1',
    port: 0,
    maxLimit: defaultMaxLimit,
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
