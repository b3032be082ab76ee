/** Listens on an address of this machine, for the service or for the monitor of a schedule. */

import { fastify, type FastifyInstance } from 'fastify';
import { lookup } from 'node:dns/promises';
import { RekapError, systemReason } from '../errors.ts';
import { checkRange } from './limits.ts';

/** A name or address to listen on. Prefers IPv4 if a name has several addresses. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/**
 * Returns the base URL for clients on this machine.
 * @throws `usage` if the app can't listen on this address. The app is then closed.
 */
export async function listen(app: FastifyInstance, { host, port }: Address): Promise<string> {
  try {
    checkRange('The port', port, 0, 65_535);
    // An address, because for `localhost` Fastify opens a second server, which our limits don't reach.
    return await app.listen({ host: await findAddress(host), port });
  } catch (error) {
    await app.close();
    if (error instanceof RekapError) throw error;
    const what = `The service cannot listen on port ${port} of ${host}: ${systemReason(error)}.`;
    throw new RekapError('usage', what, `Use another port, or 0 for any free port. ${whichHost}`, { cause: error });
  }
}

const whichHost = 'Use 127.0.0.1 for this machine only, or 0.0.0.0 for all its networks.';

async function findAddress(host: string): Promise<string> {
  // An empty name would mean all addresses of the machine, which users must request explicitly.
  const found = host === '' ? null : await lookup(host, { order: 'ipv4first' }).catch(() => null);
  if (found !== null) return found.address;
  throw new RekapError('usage', `The host ${JSON.stringify(host)} has no address.`, whichHost);
}

/** Serves /health and /metrics of a schedule, without a key. @throws `usage` if it can't listen on this address. */
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
