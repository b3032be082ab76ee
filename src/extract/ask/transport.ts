/** How a request reaches its answer: the contract. */

import type { PageRequest } from '../../stages.ts';

/** An answer as it came, its body decoded from any content encoding. */
export interface Received {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  /** When it came, where that is not now. */
  readonly at: Date | null;
}

export interface Transport {
  /** Sends one request once. What it throws is a failure of the connection, unless it is a `RekapError`. */
  send(request: PageRequest, path: string, signal: AbortSignal): Promise<Received>;
  close(): Promise<void>;
}
