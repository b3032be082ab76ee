/** The client over a transport in memory: how many requests it sends at a time, and when it stops sending them. */

import { expect, it } from 'vitest';
import { voters } from '../support/bundled.ts';
import { RekapError } from '../../src/errors.ts';
import { SourceClient } from '../../src/source/source-client.ts';
import { Secret } from '../../src/source/secret.ts';
import { requestOf } from '../support/page-request.ts';
import { manualClock } from '../../src/testing/manual-clock.ts';

interface Response {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}
/** The response to the next request, which is the one with this number for its partition. A function can also throw. */
type Respond = (partition: string, number: number, signal: AbortSignal) => Response | Promise<Response>;

const bodyOf = (partition: string): string => `{"count":1,"data":{"IdDapil":"${partition}"}}`;

function connect(respond: Respond, { concurrency = 1, maxAttempts = 1, timeout = 5000 } = {}) {
  const sent: string[] = [];
  const warnings: string[] = [];
  let underWay = 0;
  let most = 0;
  const apiKey = new Secret('a-key-of-tests');
  const client = new SourceClient(
    {
      baseUrl: 'http://source.test',
      apiKey,
      concurrency,
      timeout,
      maxAttempts,
      maxDuration: 600_000,
      keyParameter: null,
    },
    {
      transport: {
        async send({ partition }, _path, signal) {
          const number = sent.filter((each) => each === partition).length;
          sent.push(partition!);
          underWay += 1;
          most = Math.max(most, underWay);
          // Other requests that can be sent now are sent meanwhile.
          await new Promise((resolve) => setImmediate(resolve));
          underWay -= 1;
          const { status = 200, headers = {}, body = bodyOf(partition!) } = await respond(partition!, number, signal);
          return { status, headers, body: Buffer.from(body) };
        },
        async close() {},
      },
      resumed: [],
      clock: manualClock(),
      random: () => 0.5,
      report: (event) => {
        if (event.kind === 'warning') warnings.push(event.message);
      },
      land: async ({ body }) => ({ response: 0, read: async () => body }),
      signal: new AbortController().signal,
    },
  );
  const fetch = async (partition = '1101') =>
    (await client.fetchPage(voters, requestOf(voters, { partition, limit: 10 }))).page.records.length;
  const failure = () => fetch().then(String, (error: unknown) => error as RekapError);
  /** The codes of the errors of so many requests, one after another. */
  async function outcomes(requests: number): Promise<string[]> {
    const codes: string[] = [];
    for (let request = 0; request < requests; request += 1) {
      const error = await failure();
      codes.push(error instanceof RekapError ? error.code : 'page');
    }
    return codes;
  }
  return { client, fetch, failure, outcomes, sent, warnings, most: () => most };
}

/** Responds with these statuses one after another, and then with 200; 0 is a connection that fails. */
function inTurn(...statuses: readonly number[]): Respond {
  const left = [...statuses];
  return () => {
    const status = left.shift() ?? 200;
    if (status === 0) throw new Error('the connection was reset');
    return { status };
  };
}

const times = <Value>(count: number, value: Value): Value[] => Array.from({ length: count }, () => value);
const partitions = Array.from({ length: 20 }, (_, place) => String(1101 + place));

it('sends as many requests at a time as its concurrency', async () => {
  const { fetch, most } = connect(() => ({}), { concurrency: 3 });
  expect(await Promise.all(partitions.map(fetch))).toEqual(partitions.map(() => 1));
  expect(most()).toBe(3);
});

it('keeps the slot of a request while it waits for a retry', async () => {
  const { fetch, sent } = connect((partition, number) => ({ status: partition === '1101' && number < 2 ? 503 : 200 }), {
    maxAttempts: 3,
  });
  await Promise.all([fetch('1101'), fetch('1102')]);
  expect(sent).toEqual(['1101', '1101', '1101', '1102']);
});

const [status, all] = ['source-status', 'source-refused-all'];

it('stops after six refused requests in a row, and not if one of them is answered', async () => {
  const { outcomes, sent } = connect(inTurn(...times(9, 400)));
  expect(await outcomes(9)).toEqual([...times(5, status), ...times(4, all)]);
  expect(sent).toHaveLength(6);
  for (const other of [200, 204, 404, 410, 416])
    expect(await connect(inTurn(...times(5, 400), other, 400)).outcomes(7)).toEqual([
      ...times(5, status),
      'page',
      status,
    ]);
});

it('stops after five failed requests in a row, and not before', async () => {
  const failing = connect(inTurn(200, 500, 0, 500, 429, 0, 500));
  expect((await failing.outcomes(7)).at(-1)).toBe('source-unreachable');
  expect(failing.sent).toHaveLength(6);
  const recovering = connect(inTurn(200, 500, 500, 500, 500, 404, 500, 500, 500, 500, 200));
  expect((await recovering.outcomes(11)).at(-1)).toBe('page');
});

it('stops if Retry-After is longer than a run waits', async () => {
  const { failure, sent } = connect(() => ({ status: 429, headers: { 'retry-after': '3600' }, body: 'busy' }));
  expect(await failure()).toMatchObject({ code: all });
  expect(String(await failure())).toMatch(/stopped sending requests\. .* status 429 \(Retry-After is 60 minutes,/);
  expect(sent).toHaveLength(1);
});

it('stops if this machine has reached a limit', async () => {
  const { outcomes, sent } = connect(() => Promise.reject(new RekapError('system-limit', 'too many open files')));
  expect(await outcomes(2)).toEqual(times(2, 'system-limit'));
  expect(sent).toHaveLength(1);
});

it('reports a timeout with its length', async () => {
  const never: Respond = (_partition, _number, signal) =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));
  const error = await connect(never, { timeout: 20 }).failure();
  expect(error).toMatchObject({ code: 'source-unreachable', message: expect.stringContaining('within 0.02 s') });
});

it('warns once about undeclared fields', async () => {
  const { outcomes, warnings } = connect((_, number) =>
    number === 0 ? {} : { body: '{"count":1,"data":{"IdDapil":"1101","Catatan":"x"}}' },
  );
  await outcomes(1);
  expect(warnings).toEqual([]);
  await outcomes(2);
  expect(warnings).toEqual([expect.stringContaining('"Catatan"')]);
});
