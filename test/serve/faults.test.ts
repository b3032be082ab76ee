/** Each fault changes a response as described and names itself, and the same seed gives the same faults. */

import { describe, expect, it } from 'vitest';
import { faultList, type FaultName, type FaultValues } from '../../src/serve/faults/fault-list.ts';
import { manualClock } from '../../src/testing/manual-clock.ts';
import { ask, makeRecords, pipelines, requestRaw, serveBadly, start } from './support.ts';

const { path: endpoint } = pipelines[0]!;
/** Partition 11 has the first record, partition 12 has the thirty others. */
const records = makeRecords(pipelines[0]!);
type Rows = readonly Record<string, string>[];
type BadService = Awaited<ReturnType<typeof serveBadly>>;

const textsOf = (rows: Rows): string[] => rows.map((row) => JSON.stringify(row)).toSorted();

const expectRows =
  (...cases: readonly (readonly [query: string, rows: Rows])[]) =>
  async ({ rows }: BadService): Promise<void> => {
    for (const [query, expected] of cases) expect(await rows(query), query).toEqual(expected);
  };

const expectProblemDocument =
  (status: number) =>
  async ({ get }: BadService): Promise<void> => {
    const response = await get();
    expect(response.headers.get('content-type')).toContain('application/problem+json');
    expect(await response.json()).toMatchObject({ status, instance: endpoint });
  };

/** A fault without a check does not compile. */
const checks: Readonly<Record<FaultName, (bad: BadService) => Promise<void>>> = {
  async drift({ rows }) {
    const kinds = new Set<string>();
    let before = textsOf(await rows('?limit=1000'));
    for (let request = 0; request < 12; request += 1) {
      const after = textsOf(await rows('?limit=1000'));
      const removed = before.filter((row) => !after.includes(row)).length;
      const added = after.filter((row) => !before.includes(row)).length;
      kinds.add(`${removed} removed, ${added} added`);
      before = after;
    }
    expect([...kinds].toSorted()).toEqual(['0 removed, 1 added', '1 removed, 0 added', '1 removed, 1 added']);
  },
  async slow({ rows, clock }) {
    clock.sleeps.length = 0;
    expect(await rows('?limit=3')).toEqual(records.slice(0, 3));
    expect(clock.sleeps).toEqual([2000]);
  },
  foreign: expectRows(['?id_dapil=12&limit=2', records.slice(0, 2)]),
  hide: expectRows(['?limit=1000', []], ['?id_dapil=12&limit=1000', records.slice(1)]),
  async shuffle({ rows }) {
    const orders = [await rows('?limit=1000'), await rows('?limit=1000')];
    for (const order of orders) expect(textsOf(order)).toEqual(textsOf(records));
    expect(orders[0]).not.toEqual(records);
    expect(orders[0]).not.toEqual(orders[1]);
  },
  restart: expectRows(['?limit=4&offset=20', records.slice(0, 4)]),
  repeat: expectRows(['?limit=4&offset=20', records.slice(16, 20)], ['?limit=4&offset=3', records.slice(0, 4)]),
  clamp: expectRows(['?limit=1000&offset=5', records.slice(5, 8)]),
  async short({ rows }) {
    const { length } = await rows('?limit=10&offset=5');
    expect(length).toBeGreaterThan(0);
    expect(length).toBeLessThan(10);
  },
  async total({ get }) {
    expect(await (await get('?limit=2')).json()).toEqual({ count: 31, data: records.slice(0, 2) });
    expect(await (await get('?id_dapil=12&limit=1')).json()).toEqual({ count: 30, data: records[1] });
  },
  async drop({ service }) {
    expect(await requestRaw(service, 'GET', endpoint)).toBeNull();
  },
  async 429({ get, clock }) {
    const responses = await Promise.all(Array.from({ length: 8 }, () => get()));
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([429]));
    const inOneSecond = new Date(clock.now().getTime() + 1000).toUTCString();
    expect(new Set(responses.map(({ headers }) => headers.get('retry-after')))).toEqual(new Set(['1', inOneSecond]));
  },
  503: expectProblemDocument(503),
  500: expectProblemDocument(500),
  async html({ get }) {
    const response = await get();
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  },
  async stall({ get }) {
    const response = await get();
    const reader = response.body!.getReader();
    const { value } = await reader.read();
    expect(value!.length).toBeLessThan(Number(response.headers.get('content-length')));
    await reader.cancel();
  },
  async truncate({ service }) {
    const response = await requestRaw(service, 'GET', endpoint);
    expect(response!.status).toBe(200);
    expect(Buffer.byteLength(response!.body)).toBeLessThan(Number(response!.headers.get('content-length')));
  },
  async cut({ get }) {
    const response = await get();
    const text = await response.text();
    expect(response.headers.get('content-length')).toBe(String(Buffer.byteLength(text)));
    expect(() => JSON.parse(text)).toThrow(SyntaxError);
  },
};

it.each(faultList)('$name: $sentence', async ({ name }) => {
  const bad = await serveBadly({ [name]: name === 'clamp' ? 3 : 1 });
  const query = name === 'foreign' ? '?id_dapil=12' : '?offset=5';
  const response = await bad.get(query).catch(() => null);
  expect(response?.headers.get('x-rekap-fault')).toBe(name === 'drop' ? undefined : name);
  // A stalled response never ends.
  await response?.body?.cancel().catch(() => {});
  await checks[name](bad);
  expect(new Set(bad.met)).toEqual(new Set([name]));
});

describe('a service with faults', () => {
  it('checks keys and parameters, and serves HEAD and other paths, without faults', async () => {
    const { service, get } = await serveBadly(Object.fromEntries(faultList.map(({ name }) => [name, 1])));
    expect((await fetch(service.url + endpoint)).status).toBe(401);
    expect((await get('?limit=x')).status).toBe(400);
    expect((await ask(service, endpoint, { method: 'HEAD' })).status).toBe(200);
    expect((await ask(service, '/openapi.json')).status).toBe(200);
  });

  it('names every fault of a response, and gives it no ETag', async () => {
    const { get } = await serveBadly({ clamp: 2, total: 1, restart: 1 });
    const response = await get('?offset=3');
    expect(response.headers.get('x-rekap-fault')).toBe('restart, clamp, total');
    expect(response.headers.has('etag')).toBe(false);
    expect(response.headers.get('cache-control')).toBe('no-store');
  });

  it.each<FaultValues>([
    { clamp: 50 },
    Object.fromEntries(faultList.map(({ name, value }) => [name, value === 'rate' ? 0 : 1000])),
  ])('answers like a service without faults if none applies', async (values) => {
    const { get, met } = await serveBadly(values);
    const responses = [await get('?limit=1000'), await ask(await start(), `${endpoint}?limit=1000`)];
    const [bad, good] = responses.map(({ headers }) => [...headers].filter(([name]) => name !== 'date'));
    expect(bad).toEqual(good);
    expect(await responses[0]!.text()).toBe(await responses[1]!.text());
    expect(met).toEqual([]);
  });

  it('hides the same partitions from every list', async () => {
    const { rows } = await serveBadly({ hide: 0.5 }, 3);
    const first = await rows('?limit=1000');
    expect([1, 30]).toContain(first.length);
    expect(await rows('?limit=1000')).toEqual(first);
  });
});

describe('a mixture of faults', () => {
  const values: FaultValues = { shuffle: 0.3, short: 0.3, restart: 0.3, 503: 0.2, html: 0.1, cut: 0.2, clamp: 6 };
  const queries = ['', '?limit=3', '?offset=7', '?limit=20&offset=4', '?id_dapil=12&limit=9', '?limit=8&offset=16'];

  /** The responses to each query, sent three times. */
  async function responsesOf(seed: number, order: readonly string[], atOnce: number) {
    const { get } = await serveBadly(values, seed);
    const responses: Record<string, string[]> = {};
    const sendThrice = async (query: string): Promise<void> => {
      const own: string[] = (responses[query] = []);
      for (let times = 0; times < 3; times += 1) {
        const response = await get(query);
        own.push(`${response.status} ${response.headers.get('x-rekap-fault')} ${await response.text()}`);
      }
    };
    for (let at = 0; at < order.length; at += atOnce) await Promise.all(order.slice(at, at + atOnce).map(sendThrice));
    return responses;
  }

  it('depends on the seed and the number of the attempt, not on the order of the requests', async () => {
    const first = await responsesOf(4, queries, 1);
    expect(await responsesOf(4, queries.toReversed(), queries.length)).toEqual(first);
    expect(await responsesOf(5, queries, 1)).not.toEqual(first);
    // A repeated request can have other faults, so that a retry can succeed.
    expect(Object.values(first).some((own) => new Set(own).size > 1)).toBe(true);
  });
});

it.each<[FaultValues, number, string]>([
  [{ stall: 1.1 }, 1, 'stall'],
  [{ 429: -0.1 }, 1, '429'],
  [{ clamp: 0 }, 1, 'clamp'],
  [{ drop: 0.1 }, 0.5, 'seed'],
])('refuses %j with seed %d', async (values, seed, name) => {
  const starting = start({ faults: { values, seed, clock: manualClock() } });
  await expect(starting).rejects.toMatchObject({ code: 'usage', message: expect.stringContaining(name) });
});
