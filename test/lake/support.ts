/** A real Iceberg REST catalog on loopback, and a way to it that breaks when it is told to. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { createServer, type IncomingMessage, request as send, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { buffer } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { systemClock } from '../../src/runtime/context.ts';
import type { CatalogSettings } from '../../src/share/lake/catalog.ts';
import type { LakePlace } from '../../src/share/lake/open-lake.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const cache = join(import.meta.dirname, '../../node_modules/.cache/lake');
export const extensions = join(cache, 'extensions');
export const hasCatalog = process.env['REKAP_LAKE'] !== undefined && existsSync(join(cache, 'ready'));
export const whySkipped = '"make test-lake" runs it against an Iceberg catalog';

/** Decides what happens to a request: it is passed on, or the connection breaks before or after that. */
type Fault = (request: IncomingMessage, body: string) => 'pass' | 'lose request' | 'lose response' | 'hold' | number;

export interface TestCatalog {
  readonly url: string;
  /** Bodies of the commits that arrived. */
  readonly commits: string[];
  fault: Fault;
  place(settings?: Partial<CatalogSettings>): LakePlace;
}

/** Until the present test is over. */
export async function startCatalog(): Promise<TestCatalog> {
  const folder = await temporaryFolder();
  await mkdir(join(folder, 'warehouse'));
  const child = spawn('java', ['-cp', `${join(cache, 'classes')}:${join(cache, 'jars')}/*`, 'TestCatalog', folder], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(async () => {
    if (child.exitCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  const [port] = (await once(createInterface(child.stdout), 'line')) as [string];
  const catalog = { commits: [] as string[], fault: (() => 'pass') as Fault };
  const server = createServer((request, response) => void relay(request, response, Number(port), catalog));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return Object.assign(catalog, {
    url,
    place: (settings: Partial<CatalogSettings> = {}): LakePlace => ({
      catalog: {
        url,
        warehouse: null,
        namespace: 'rekap',
        token: null,
        signal: new AbortController().signal,
        clock: { sleep: (milliseconds) => systemClock.sleep(milliseconds / 20) },
        ...settings,
      },
      extensions,
      memory: 256e6,
      environment: {},
    }),
  });
}

async function relay(
  request: IncomingMessage,
  response: ServerResponse,
  port: number,
  catalog: Pick<TestCatalog, 'commits' | 'fault'>,
): Promise<void> {
  const body = await buffer(request);
  const { method, url, headers } = request;
  if (url!.endsWith('/transactions/commit')) catalog.commits.push(body.toString());
  const fault = catalog.fault(request, body.toString());
  if (fault === 'hold') return;
  if (fault === 'lose request') return void response.destroy();
  if (typeof fault === 'number') return void response.writeHead(fault).end('{}');
  const passed = send({ host: '127.0.0.1', port, method, path: url, headers });
  passed.end(body);
  const [answer] = (await once(passed, 'response')) as [IncomingMessage];
  const text = await buffer(answer);
  if (fault === 'lose response') return void response.destroy();
  const { 'transfer-encoding': _, ...own } = answer.headers;
  response.writeHead(answer.statusCode!, own).end(text);
}

export function isCommit({ url }: IncomingMessage): boolean {
  return url!.endsWith('/transactions/commit');
}
