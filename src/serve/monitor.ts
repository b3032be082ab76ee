/** Serves /health and /metrics of a schedule, without a key. */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { RekapError, systemReason } from '../errors.ts';

interface Monitor {
  readonly url: string;
  close(): Promise<void>;
}

export async function startMonitor(
  { host, port }: { readonly host: string; readonly port: number },
  handlers: { readonly health: () => Promise<object>; readonly metrics: () => Promise<string> },
): Promise<Monitor> {
  const server = createServer((request, response) => {
    const send = (status: number, type: string, text: string): void => {
      response.writeHead(status, { 'content-type': `${type}; charset=utf-8`, 'cache-control': 'no-store' });
      response.end(request.method === 'HEAD' ? undefined : text);
    };
    const refuse = (status: number): void => send(status, 'application/json', JSON.stringify({ status }));
    const path = request.url?.split('?')[0];
    if (request.method !== 'GET' && request.method !== 'HEAD') return refuse(405);
    const handled =
      path === '/health'
        ? handlers.health().then((health) => send(200, 'application/json', `${JSON.stringify(health)}\n`))
        : path === '/metrics'
          ? handlers.metrics().then((text) => send(200, 'text/plain; version=0.0.4', text))
          : Promise.resolve(refuse(404));
    // Doesn't show the reason to strangers.
    handled.catch(() => refuse(500));
  });
  await new Promise<void>((done, fail) => {
    server.once('error', (error) =>
      fail(
        new RekapError(
          'usage',
          `Cannot listen on ${host}:${port}: ${systemReason(error)}.`,
          'Use another --port or --host.',
          { cause: error },
        ),
      ),
    );
    server.listen(port, host, done);
  });
  const { port: own } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${own}`,
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}
