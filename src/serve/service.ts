/** Starts and stops the service. */

import { buildApp, type AppOptions } from './app.ts';
import { checkFaults } from './faults/fault-list.ts';
import { checkRange, maxNumber } from './limits.ts';
import { listen } from './listen.ts';

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
  if (options.faults !== undefined) checkFaults(options.faults);
  if (options.maxConnections !== undefined)
    checkRange('The limit on connections', options.maxConnections, 1, maxNumber);
  const app = await buildApp(options);
  const url = await listen(app, options);
  return { url, unref: () => void app.server.unref(), close: () => app.close() };
}
