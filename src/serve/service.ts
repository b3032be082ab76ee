/** Starts the service on an address and stops it again. */

import { lookup } from 'node:dns/promises';
import type { AddressInfo } from 'node:net';
import { systemCode, RekapError } from '../errors.ts';
import { buildApp, type AppOptions } from './app.ts';
import { checkFaults } from './faults/fault-list.ts';
import { defaultMaxLimit, maxNumber } from './limits.ts';

export { defaultMaxLimit };

export interface ServiceOptions extends AppOptions {
  /** Name or address to listen on; of a name that has several addresses, an IPv4 one comes first. */
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
}

/** A service that accepts requests. */
export interface Service {
  /** Base URL for a client on the same machine, without a slash at its end, such as http://127.0.0.1:4321. */
  readonly url: string;
  /**
   * Closes idle connections at once and the others when their answers are taken, or after `limits.closeTimeout` at the
   * latest. Resolves when the port is free. The record source stays open.
   */
  close(): Promise<void>;
}

/**
 * Starts the service; it accepts requests when the promise resolves.
 *
 * @throws `usage` where an option is out of range, or the service cannot listen on this address.
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  checkRange('The port', options.port, 0, 65_535);
  checkRange('The largest limit', options.maxLimit, 1, maxNumber);
  if (options.rateLimit !== undefined) checkRange('The rate limit per minute', options.rateLimit, 1, maxNumber);
  if (options.faults !== undefined) checkFaults(options.faults);
  if (options.maxConnections !== undefined)
    checkRange('The bound on connections', options.maxConnections, 1, maxNumber);

  const host = await findAddress(options.host);
  const app = await buildApp(options);
  try {
    // An address rather than a name: for `localhost` Fastify opens a second server, which none of our limits would reach.
    await app.listen({ host, port: options.port });
  } catch (error) {
    await app.close();
    throw explainListening(error, options);
  }
  return {
    url: baseUrl(app.server.address() as AddressInfo),
    close: () => app.close(),
  };
}

function checkRange(what: string, value: number, minimum: number, maximum: number): void {
  if (Number.isInteger(value) && value >= minimum && value <= maximum) return;
  throw new RekapError('usage', `${what} is ${value}.`, `Give a whole number from ${minimum} to ${maximum}.`);
}

async function findAddress(host: string): Promise<string> {
  // An empty name would mean every address of the machine, which must be asked for by name.
  if (host !== '') {
    try {
      return (await lookup(host, { order: 'ipv4first' })).address;
    } catch {
      // Explained below: why a name has no address does not change what to do.
    }
  }
  throw new RekapError(
    'usage',
    `The host ${JSON.stringify(host)} has no address.`,
    'Use 127.0.0.1 for this machine only, or 0.0.0.0 for every network it is on.',
  );
}

/** Makes a message of the reasons for which a user's address cannot be listened on; anything else stays what it is. */
function explainListening(error: unknown, { host, port }: ServiceOptions): unknown {
  const explain = (message: string, next: string): RekapError =>
    new RekapError('usage', message, next, { cause: error });
  switch (systemCode(error)) {
    case 'EADDRINUSE':
      return explain(
        `Port ${port} on ${host} is in use.`,
        'Give another port, 0 for any free one, or stop what listens there.',
      );
    case 'EACCES':
      return explain(`Port ${port} on ${host} may not be used by this user.`, 'Give a port from 1024 upwards.');
    case 'EADDRNOTAVAIL':
      return explain(
        `${host} is not an address of this machine.`,
        'Use 127.0.0.1 for this machine only, or 0.0.0.0 for every network it is on.',
      );
    case 'EAFNOSUPPORT':
      return explain(`This machine has no network of the kind of ${host}.`, 'Use 127.0.0.1.');
    default:
      return error;
  }
}

/** The wildcard addresses are no address to connect to; the loopback address of their kind is. */
function baseUrl({ address, port }: AddressInfo): string {
  if (address === '0.0.0.0') return `http://127.0.0.1:${port}`;
  if (address === '::') return `http://[::1]:${port}`;
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`;
}
