/** A source in a process of its own that does as little as possible, so that it isn't the bottleneck. */

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { GeneratedRecords } from './generated-records.ts';
import { type DatasetName, datasets } from './vary-record.ts';

/** What the server returns. */
export interface SourceSettings {
  /** Records of both datasets together, half in each; null for the sample as it is. */
  readonly records: number | null;
  /** Milliseconds before each response. */
  readonly delay: number;
}

/** A running source. */
export interface Source {
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts a source. Resolves when it listens. */
export async function startSource(settings: SourceSettings): Promise<Source> {
  const child = fork(fileURLToPath(import.meta.url), [JSON.stringify(settings)], {
    execArgv: ['--max-old-space-size=8192'],
  });
  const [port] = (await once(child, 'message')) as [number];
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      child.kill();
      await once(child, 'exit');
    },
  };
}

/** Serves until the parent ends, and sends it the port. */
function serve({ records, delay }: SourceSettings): void {
  const recordsAt = new Map(
    Object.entries(datasets).map(([name, { path }]) => [
      path,
      new GeneratedRecords(name as DatasetName, records === null ? null : records / 2),
    ]),
  );
  const server = createServer((request, response) => {
    void (async () => {
      const { pathname, searchParams } = new URL(request.url!, 'http://source');
      const found = recordsAt.get(pathname);
      if (found === undefined) {
        response.writeHead(404).end();
        return;
      }
      if (delay > 0) await sleep(delay);
      const partition = searchParams.get('id_dapil');
      const limit = Number(searchParams.get('limit') ?? 10);
      const offset = Number(searchParams.get('offset') ?? 0);
      const pieces = found.page(partition === null ? null : Number(partition), limit, offset);
      const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': length });
      response.cork();
      for (const piece of pieces) response.write(piece);
      response.end();
    })();
  });
  process.once('disconnect', () => process.exit());
  server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) serve(JSON.parse(process.argv[2]!) as SourceSettings);
