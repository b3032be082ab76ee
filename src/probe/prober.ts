/** Sends the few requests of a probe, and keeps a list of them. */

import { isRekapError, messageOf, RekapError } from '../errors.ts';
import type { Clock } from '../runtime/context.ts';
import type { Transport } from '../source/http-transport.ts';
import type { Secret } from '../source/secret.ts';
import { adviceOnCertificate, connectionCode } from '../source/source-messages.ts';

export const maxRequests = 20;

const maxAttempts = 4;
const timeout = 30_000;
const busy: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);

export interface ProbeRequest {
  /** Path and query, without the key. */
  readonly target: string;
  readonly status: number;
  /** What the response showed. */
  note: string;
}

export interface ProbeResponse {
  readonly target: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  readonly text: string;
}

export interface ProberOptions {
  readonly transport: Transport;
  readonly origin: string;
  readonly apiKey: Secret;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

export class Prober {
  readonly requests: ProbeRequest[] = [];
  private readonly options: ProberOptions;
  private readonly received = new Map<string, ProbeResponse>();

  constructor(options: ProberOptions) {
    this.options = options;
  }

  /** Returns the response; null if the budget is used up. A busy source is asked again. @throws `source-unreachable` for the first request. */
  async get(target: string): Promise<ProbeResponse | null> {
    const before = this.received.get(target);
    if (before !== undefined) return before;
    for (let attempt = 1; ; attempt += 1) {
      if (this.requests.length >= maxRequests) return null;
      const response = await this.send(target);
      const isBusy = response === null || busy.has(response.status);
      if (!isBusy || attempt === maxAttempts) {
        if (response !== null) this.received.set(target, response);
        return response;
      }
      await this.options.clock.sleep(500 * attempt, this.options.signal);
    }
  }

  get responses(): Iterable<ProbeResponse> {
    return this.received.values();
  }

  /** Describes the last request with this target. */
  note(target: string, note: string): void {
    const request = this.requests.findLast((sent) => sent.target === target);
    if (request !== undefined) request.note = note;
  }

  private async send(target: string): Promise<ProbeResponse | null> {
    const { transport, origin, apiKey, signal } = this.options;
    const request = { dataset: 'probe', partition: null, target };
    const bounded = AbortSignal.any([signal, AbortSignal.timeout(timeout)]);
    try {
      const { status, headers, body: received } = await transport.send(request, target, bounded);
      const body = apiKey.removeFrom(received);
      this.requests.push({ target, status, note: busy.has(status) ? 'the source is busy' : '' });
      return { target, status, headers, body, text: body.toString('utf8') };
    } catch (error) {
      signal.throwIfAborted();
      if (isRekapError(error, 'response-too-large'))
        throw new RekapError(error.code, error.message, 'Add the page size to the URL, such as limit=100.');
      if (isRekapError(error)) throw error;
      this.requests.push({ target, status: 0, note: messageOf(error) });
      if (this.requests.length < maxAttempts || this.received.size > 0) return null;
      const what = `${origin} cannot be reached: ${messageOf(error)}.`;
      const next = adviceOnCertificate(connectionCode(error)) ?? 'Check the URL and the network.';
      throw new RekapError('source-unreachable', what, next, { cause: error });
    }
  }
}
