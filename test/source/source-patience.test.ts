/** How much a source may refuse, keep silent or add before it counts as gone, as refusing all, or as odd. */

import { describe, expect, it } from 'vitest';
import { voters } from '../support/bundled.ts';
import { RekapError } from '../../src/errors.ts';
import { SourceClient } from '../../src/source/source-client.ts';
import type { Transport } from '../../src/source/http-transport.ts';
import { Secret } from '../../src/source/secret.ts';
import { requestOf } from '../support/asked.ts';
import { manualClock } from '../support/manual-clock.ts';

type Send = Transport['send'];
const request = requestOf(voters, { partition: '1101', limit: 10 });

/** A client whose requests `send` answers, one attempt each, and the warnings that it gives. */
function connect(send: Send, timeout = 5000) {
  const warnings: string[] = [];
  let sent = 0;
  const client = new SourceClient(
    { baseUrl: 'http://source.test', apiKey: new Secret('a-key-of-tests'), concurrency: 1, timeout, maxAttempts: 1 },
    {
      transport: {
        async send(...asked) {
          sent += 1;
          return send(...asked);
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
  const fetchPage = () => client.fetchPage(voters, request);
  return { fetchPage, failure: () => fetchPage().then(String, (error: unknown) => error), warnings, sent: () => sent };
}

/** Answers with these statuses, one after another; 0 is a connection that fails. */
function inTurn(statuses: readonly number[], data: unknown = []): Send {
  const left = [...statuses];
  return async () => {
    const status = left.shift() ?? 200;
    if (status === 0) throw new Error('the connection was reset');
    const count = Array.isArray(data) ? data.length : 1;
    return { status, headers: {}, body: Buffer.from(JSON.stringify({ count, data })) };
  };
}

/** The codes of the errors that so many requests end with. */
async function outcomes(statuses: readonly number[]): Promise<string[]> {
  const { failure } = connect(inTurn(statuses));
  const codes: string[] = [];
  for (let turn = 0; turn < statuses.length; turn += 1) {
    const error = await failure();
    codes.push(error instanceof RekapError ? error.code : 'page');
  }
  return codes;
}

const [status, all, gone] = ['source-status', 'source-refused-all', 'source-unreachable'];
const times = (count: number, name = status): string[] => Array.from({ length: count }, () => name);

describe('a source', () => {
  it('that refuses six requests in a row refuses them all, and is asked no more', async () => {
    expect(await outcomes([400, 400, 400, 400, 400, 400])).toEqual([...times(5), all]);
    const { failure, sent } = connect(inTurn([422, 422, 422, 422, 422, 422]));
    for (let turn = 0; turn < 9; turn += 1) await failure();
    expect(sent()).toBe(6);
  });

  it('that asks for more patience than a run has is asked no more, by any request', async () => {
    const { failure, sent } = connect(async () => ({
      status: 429,
      headers: { 'retry-after': '3600' },
      body: Buffer.from('busy'),
    }));
    expect(await failure()).toMatchObject({ code: 'source-refused-all' });
    const again = await failure();
    expect(String(again)).toMatch(/stopped sending requests\. .* status 429 \(Retry-After is 60 minutes\)/);
    expect(sent()).toBe(1);
  });

  it.each([200, 204, 404, 410, 416])('that answers one with %i does not refuse them all', async (answer) => {
    expect(await outcomes([400, 400, 400, 400, 400, answer, 400])).toEqual([...times(5), 'page', status]);
    expect(await outcomes([answer, ...Array.from({ length: 9 }, () => 400)])).toEqual(['page', ...times(9)]);
  });

  it('that fails five requests in a row is gone, unless it answers one in between', async () => {
    const failing = connect(inTurn([200, 500, 0, 500, 429, 0, 500]));
    for (let turn = 0; turn < 6; turn += 1) await failing.failure();
    expect(await failing.failure()).toMatchObject({
      code: gone,
      message: expect.stringContaining('5 requests in a row'),
    });
    expect(failing.sent()).toBe(6);
    const wavering = connect(inTurn([200, 500, 500, 500, 500, 404, 500, 500, 500, 500, 200]));
    for (let turn = 0; turn < 11; turn += 1) await wavering.failure();
    expect(wavering.sent()).toBe(11);
  });

  it('that cannot be asked for want of something on this machine is asked no more', async () => {
    const { failure, sent } = connect(() => Promise.reject(new RekapError('system-limit', 'no more files')));
    for (let turn = 0; turn < 2; turn += 1) expect(await failure()).toMatchObject({ code: 'system-limit' });
    expect(sent()).toBe(1);
  });

  it('that does not answer in time is told apart from one that breaks off, with the time', async () => {
    const { failure } = connect(
      (_request, _path, signal) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted')))),
      20,
    );
    expect(await failure()).toMatchObject({
      code: gone,
      message: expect.stringContaining('no complete response within 0.02 s'),
    });
  });
});

describe('an answer', () => {
  it('with nothing odd about it gives no warning', async () => {
    const { fetchPage, warnings } = connect(inTurn([200, 200], [{ IdDapil: '1101' }]));
    await fetchPage();
    await fetchPage();
    expect(warnings).toEqual([]);
  });

  it('with fields that are not declared gives one, with their names', async () => {
    const { fetchPage, warnings } = connect(inTurn([200, 200], [{ IdDapil: '1101', Catatan: 'x' }]));
    await fetchPage();
    await fetchPage();
    expect(warnings).toEqual([expect.stringContaining('"Catatan"')]);
  });
});
