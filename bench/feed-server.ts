/** A feed in a process of its own: rows that change, in the order of their changes, with a filter by time. */

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { DeclaredPipeline, ProjectDeclaration } from '../src/project/declaration.ts';

/** Returns the project of a feed. @param columns Columns beside `id` and `updated_at`. */
export function feedProject(columns: DeclaredPipeline['columns']): ProjectDeclaration {
  return {
    name: 'feed',
    paging: { by: 'offset', limit: 'limit', offset: 'offset' },
    pipelines: [
      {
        table: 'rows',
        path: '/rows',
        columns: {
          id: { kind: 'integer', field: 'id' },
          ...columns,
          updated_at: { kind: 'timestamp', field: 'updated_at' },
        },
        key: ['id'],
        incremental: { cursor: 'updated_at', parameter: 'updated_since', lookback: 'PT1H', wholeEvery: 'P7D' },
      },
    ],
  };
}

/** A running feed. */
export interface Feed {
  readonly url: string;
  /** Changes rows, one second before now. */
  change(rows: number): Promise<void>;
  stop(): Promise<void>;
}

export async function startFeed(rows: number): Promise<Feed> {
  const child = fork(fileURLToPath(import.meta.url), [String(rows)]);
  const [port] = (await once(child, 'message')) as [number];
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    async change(changed) {
      await fetch(`${url}/change?rows=${changed}`, { method: 'POST' });
    },
    async stop() {
      child.kill();
      await once(child, 'exit');
    },
  };
}

function serve(rows: number): void {
  // A row per minute until an hour ago.
  const begin = Math.floor(Date.now() / 1000) - 3600 - rows * 60;
  let feed = Array.from({ length: rows }, (_, index) => ({ id: index + 1, version: 0, at: begin + index * 60 }));
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://feed');
    if (pathname === '/change') {
      const changed = Number(searchParams.get('rows'));
      const at = Math.floor(Date.now() / 1000) - 1;
      const moved = feed.slice(0, changed).map((row) => ({ ...row, version: row.version + 1, at }));
      feed = [...feed.slice(changed), ...moved];
      response.end();
      return;
    }
    const since = searchParams.get('updated_since');
    const from = since === null ? 0 : Date.parse(since) / 1000;
    const first = feed.findIndex(({ at }) => at >= from);
    const offset = (first < 0 ? feed.length : first) + Number(searchParams.get('offset'));
    const page = feed.slice(offset, offset + Number(searchParams.get('limit')));
    const records = page.map(({ id, version, at }) => ({
      id,
      name: `Row ${id}`,
      amount: id * 100 + version,
      updated_at: new Date(at * 1000).toISOString(),
    }));
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(records));
  });
  server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) serve(Number(process.argv[2]));
