/** Starts and stops the service. */

import { lookup } from 'node:dns/promises';
import type { AddressInfo } from 'node:net';
import { RekapError, systemReason } from '../errors.ts';
import { buildApp, type AppOptions } from './app.ts';
import { checkFaults } from './faults/fault-list.ts';
import { checkRange, maxNumber } from './limits.ts';

/** What to serve, and where. */
export interface ServiceOptions extends AppOptions {
  /** Name or address to listen on. Prefers IPv4 if a name has several addresses. */
  readonly host: string;
  readonly port: number;
}

/** A running service. */
export interface Service {
  /** Base URL for a client on the same machine, without a final slash, such as http://127.0.0.1:4321. */
  readonly url: string;
  /** Lets the process end although the service runs. */
  unref(): void;
  /** Closes idle connections immediately, and others after their response or `limits.closeTimeout`. The record source stays open. */
  close(): Promise<void>;
}

/** Resolves when the service accepts requests. Throws `usage` if an option is out of range, or the service can't listen on this address. */
export async function startService(options: ServiceOptions): Promise<Service> {
  checkRange('The port', options.port, 0, 65_535);
  if (options.faults !== undefined) checkFaults(options.faults);
  if (options.maxConnections !== undefined)
    checkRange('The limit on connections', options.maxConnections, 1, maxNumber);

  const host = await findAddress(options.host);
  const app = await buildApp(options);
  try {
    // An address, because for `localhost` Fastify opens a second server, which our limits don't reach.
    await app.listen({ host, port: options.port });
  } catch (error) {
    await app.close();
    const reason = systemReason(error);
    throw new RekapError(
      'usage',
      `The service cannot listen on port ${options.port} of ${options.host}: ${reason}.`,
      `Use another port, or 0 for any free port. ${whichHost}`,
      { cause: error },
    );
  }
  return {
    url: baseUrl(app.server.address() as AddressInfo),
    unref: () => void app.server.unref(),
    close: () => app.close(),
  };
}

const whichHost = 'Use 127.0.0.1 for this machine only, or 0.0.0.0 for all its networks.';

async function findAddress(host: string): Promise<string> {
  // An empty name would mean all addresses of the machine, which users must request explicitly.
  const found = host === '' ? null : await lookup(host, { order: 'ipv4first' }).catch(() => null);
  if (found !== null) return found.address;
  throw new RekapError('usage', `The host ${JSON.stringify(host)} has no address.`, whichHost);
}

/** Replaces the wildcard address, which clients can't connect to, with the loopback address. */
function baseUrl({ address, port }: AddressInfo): string {
  const host = { '0.0.0.0': '127.0.0.1', '::': '::1' }[address] ?? address;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
