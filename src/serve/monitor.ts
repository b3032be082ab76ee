/** Serves /health and /metrics of a schedule, without a key. */

import { fastify } from 'fastify';
import { type Address, listen } from './listen.ts';

/** @throws `usage` if it can't listen on this address. */
export async function startMonitor(
  address: Address,
  { health, metrics }: { readonly health: () => Promise<object>; readonly metrics: () => Promise<string> },
) {
  const app = fastify({ forceCloseConnections: true });
  // Doesn't show the reason to strangers.
  app.setErrorHandler((_error, _request, reply) => reply.code(500).send({ status: 500 }));
  app.get('/health', async (_request, reply) => reply.header('cache-control', 'no-store').send(await health()));
  app.get('/metrics', async (_request, reply) =>
    reply
      .header('cache-control', 'no-store')
      .type('text/plain; version=0.0.4')
      .send(await metrics()),
  );
  return { url: await listen(app, address), close: () => app.close() };
}
