/** The fault kit over HTTP: each fault does what its sentence says and names itself, and the same seed gives the same faults. */

import { describe, expect, it } from 'vitest';
import { Chance } from '../../src/serve/faults/chance.ts';
import { faultList, type FaultName, type FaultValues } from '../../src/serve/faults/fault-list.ts';
import { manualClock } from '../support/manual-clock.ts';
import { ask, makeRecords, pipelines, requestRaw, serveBadly, start } from './support.ts';

const { path: endpoint } = pipelines[0]!;
/** Partition 11 has the first of them, partition 12 the thirty others. */
const records = makeRecords(pipelines[0]!);
type Row = Record<string, string>;

const sorted = (rows: readonly Row[]): string[] => rows.map((row) => JSON.stringify(row)).toSorted();

/** One test for every fault at its strongest; a fault without one does not compile. */
const promises: Readonly<Record<FaultName, () => Promise<void>>> = {
  async drift() {
    const { rows } = await serveBadly({ drift: 1 });
    const kinds = new Set<string>();
    let before = records;
    for (let turn = 0; turn < 12; turn += 1) {
      const after = await rows('?limit=1000');
      const [old, fresh] = [new Set(sorted(before)), new Set(sorted(after))];
      const gone = before.filter((row) => !fresh.has(JSON.stringify(row)));
      const come = after.filter((row) => !old.has(JSON.stringify(row)));
      // Everything else is as the request before had left it: each change is for good.
      kinds.add(`${gone.length} gone, ${come.length} new`);
      if (gone.length === 1 && come.length === 1) {
        const changed = Object.keys(gone[0]!).filter((field) => gone[0]![field] !== come[0]![field]);
        expect(changed).toHaveLength(1);
        expect(Number(come[0]![changed[0]!])).toBeGreaterThan(Number(gone[0]![changed[0]!]));
      }
      before = after;
    }
    expect([...kinds].toSorted()).toEqual(['0 gone, 1 new', '1 gone, 0 new', '1 gone, 1 new']);
  },
  async slow() {
    const { rows, clock } = await serveBadly({ slow: 1 });
    expect(await rows('?limit=3')).toEqual(records.slice(0, 3));
    expect(clock.sleeps).toEqual([2000]);
  },
  async foreign() {
    const { rows } = await serveBadly({ foreign: 1 });
    expect(await rows('?id_dapil=12&limit=2')).toEqual(records.slice(0, 2));
  },
  async hide() {
    const { rows } = await serveBadly({ hide: 1 });
    expect(await rows('?limit=1000')).toEqual([]);
    expect(await rows('?id_dapil=12&limit=1000')).toEqual(records.slice(1));
  },
  async shuffle() {
    const { rows } = await serveBadly({ shuffle: 1 });
    const orders = [await rows('?limit=1000'), await rows('?limit=1000')];
    for (const order of orders) {
      expect(sorted(order)).toEqual(sorted(records));
      expect(order.filter((row, place) => JSON.stringify(row) === JSON.stringify(records[place]))).toEqual([]);
    }
    expect(orders[0]).not.toEqual(orders[1]);
  },
  async restart() {
    const { rows } = await serveBadly({ restart: 1 });
    expect(await rows('?limit=4&offset=20')).toEqual(records.slice(0, 4));
  },
  async repeat() {
    const { rows } = await serveBadly({ repeat: 1 });
    expect(await rows('?limit=4')).toEqual(records.slice(0, 4));
    expect(await rows('?limit=4&offset=20')).toEqual(records.slice(16, 20));
    expect(await rows('?limit=4&offset=3')).toEqual(records.slice(0, 4));
  },
  async clamp() {
    const { get } = await serveBadly({ clamp: 3 });
    expect(await (await get('?limit=1000&offset=5')).json()).toEqual({ count: 3, data: records.slice(5, 8) });
  },
  async short() {
    const { rows } = await serveBadly({ short: 1 });
    const { length } = await rows('?limit=10&offset=5');
    expect(length).toBeGreaterThan(0);
    expect(length).toBeLessThan(10);
    expect(await rows('?limit=1')).toHaveLength(1);
  },
  async total() {
    const { get } = await serveBadly({ total: 1 });
    expect(await (await get('?limit=2')).json()).toEqual({ count: 31, data: records.slice(0, 2) });
    expect(await (await get('?id_dapil=12&limit=1')).json()).toEqual({ count: 30, data: records[1] });
  },
  async drop() {
    const { service } = await serveBadly({ drop: 1 });
    expect(await requestRaw(service, 'GET', endpoint)).toBeNull();
  },
  async 429() {
    const { get, clock } = await serveBadly({ 429: 1 });
    const waits = new Set<string>();
    for (let attempt = 0; attempt < 8; attempt += 1) {
      const response = await get();
      expect(response.status).toBe(429);
      expect(response.headers.get('content-type')).toContain('application/problem+json');
      waits.add(response.headers.get('retry-after')!);
    }
    // The clock stands at a whole second.
    expect(waits).toEqual(new Set(['1', new Date(clock.now().getTime() + 1000).toUTCString()]));
  },
  async 503() {
    const response = await (await serveBadly({ 503: 1 })).get();
    expect(await response.json()).toMatchObject({ status: 503, title: 'Service Unavailable', instance: endpoint });
  },
  async 500() {
    const response = await (await serveBadly({ 500: 1 })).get();
    expect(await response.json()).toMatchObject({ status: 500, title: 'Internal Server Error' });
  },
  async html() {
    const response = await (await serveBadly({ html: 1 })).get();
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(await response.text()).toMatch(/^<!doctype html>/);
  },
  async stall() {
    const { get, service } = await serveBadly({ stall: 1 });
    const response = await get();
    const reader = response.body!.getReader();
    let received = (await reader.read()).value!.length;
    let isOver = false;
    const rest = (async () => {
      for (let { value, done } = await reader.read(); !done; { value, done } = await reader.read())
        received += value!.length;
      isOver = true;
    })();
    // Another request comes and goes meanwhile.
    expect((await ask(service, '/health')).status).toBe(200);
    expect(isOver).toBe(false);
    expect(received).toBeLessThan(Number(response.headers.get('content-length')));
    await reader.cancel();
    await rest;
  },
  async truncate() {
    const { service } = await serveBadly({ truncate: 1 });
    const answer = await requestRaw(service, 'GET', endpoint);
    expect(answer!.status).toBe(200);
    expect(answer!.body).toMatch(/^\{/);
    expect(Buffer.byteLength(answer!.body)).toBeLessThan(Number(answer!.headers.get('content-length')));
  },
  async cut() {
    const response = await (await serveBadly({ cut: 1 })).get();
    const text = await response.text();
    expect(response.headers.get('content-length')).toBe(String(Buffer.byteLength(text)));
    expect(text).toMatch(/^\{/);
    expect(() => JSON.parse(text)).toThrow(SyntaxError);
  },
};

function expectPromise(name: FaultName): Promise<void> {
  return promises[name]();
}

describe.each(faultList)('the fault $name ($sentence)', ({ name }) => {
  it('does what is said of it', () => expectPromise(name));

  it('names itself in a header and to whoever counts, and only where it changed the answer', async () => {
    const { service, met } = await serveBadly({ [name]: 1 });
    const query = name === 'foreign' ? '?id_dapil=12' : '?offset=5';
    const answer = await ask(service, endpoint + query).catch(() => null);
    expect(answer?.headers.get('x-rekap-fault')).toBe(name === 'drop' ? undefined : name);
    // A stalled answer has no end to wait for.
    await answer?.body?.cancel().catch(() => {});
    expect(met).toEqual([name]);
  });
});

it('nothing happens at rate 0', async () => {
  const values = Object.fromEntries(faultList.map(({ name, value }) => [name, value === 'rate' ? 0 : 1000]));
  const { get, met } = await serveBadly(values);
  const response = await get('?limit=1000');
  expect(response.headers.has('x-rekap-fault')).toBe(false);
  expect(await response.json()).toEqual({ count: 31, data: records });
  expect(met).toEqual([]);
});

describe('a service that misbehaves', () => {
  const everything: FaultValues = Object.fromEntries(faultList.map(({ name }) => [name, 1]));

  it('still asks for the key, checks parameters, and answers HEAD and the other paths as ever', async () => {
    const { service, get } = await serveBadly(everything);
    expect((await fetch(service.url + endpoint)).status).toBe(401);
    expect((await get('?limit=x')).status).toBe(400);
    expect((await ask(service, endpoint, { method: 'HEAD' })).status).toBe(200);
    expect((await ask(service, '/openapi.json')).status).toBe(200);
  });

  it('names every fault of an answer, and gives it no ETag that would promise the same again', async () => {
    const { get } = await serveBadly({ clamp: 2, total: 1, restart: 1 });
    const response = await get('?offset=3');
    expect(response.headers.get('x-rekap-fault')).toBe('restart, clamp, total');
    expect(response.headers.has('etag')).toBe(false);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect((await get('?limit=1&offset=0')).headers.has('etag')).toBe(false);
    expect(await (await get('?offset=31&limit=1')).json()).toMatchObject({ count: 31, data: records[0] });
  });

  it('answers a request without a fault just as a service without faults', async () => {
    const { get } = await serveBadly({ clamp: 50, total: 0.5 });
    const plain = await start();
    const answers = [await get('?limit=1000'), await ask(plain, `${endpoint}?limit=1000`)];
    const [bad, good] = answers.map(({ headers }) => [...headers].filter(([name]) => name !== 'date'));
    expect(bad).toEqual(good);
    expect(await answers[0]!.text()).toBe(await answers[1]!.text());
  });

  it('hides the same part of the partitions from every list', async () => {
    const hidden = new Set<string>();
    for (let seed = 1; seed <= 12; seed += 1) {
      const { rows } = await serveBadly({ hide: 0.5 }, seed);
      const first = await rows('?limit=1000');
      expect(await rows('?limit=1000')).toEqual(first);
      hidden.add(String(first.length));
    }
    // Neither, one or both of the two partitions.
    expect([...hidden].toSorted()).toEqual(['0', '1', '30', '31']);
  });
});

describe('chance', () => {
  const values: FaultValues = { shuffle: 0.3, short: 0.3, restart: 0.3, 503: 0.2, html: 0.1, cut: 0.2, clamp: 6 };
  const queries = ['', '?limit=3', '?offset=7', '?limit=20&offset=4', '?id_dapil=12&limit=9', '?limit=8&offset=16'];

  /** What each query brought when it was asked for three times; `together` says how many queries are asked at a time. */
  async function answersOf(seed: number, asked: readonly string[], together: number) {
    const { get } = await serveBadly(values, seed);
    const answers: Record<string, string[]> = {};
    const askThrice = async (query: string): Promise<void> => {
      const own: string[] = (answers[query] = []);
      for (let times = 0; times < 3; times += 1) {
        const response = await get(query);
        own.push(`${response.status} ${response.headers.get('x-rekap-fault')} ${await response.text()}`);
      }
    };
    for (let at = 0; at < asked.length; at += together)
      await Promise.all(asked.slice(at, at + together).map(askThrice));
    return answers;
  }

  it('gives the same answers for the same seed, in whatever order they are asked for, and others for another', async () => {
    const first = await answersOf(4, queries, 1);
    expect(await answersOf(4, queries.toReversed(), 1)).toEqual(first);
    expect(await answersOf(4, queries, queries.length)).toEqual(first);
    expect(await answersOf(5, queries, 1)).not.toEqual(first);
  });

  it('is drawn anew when the same is asked again, so that faults pass', async () => {
    const { get } = await serveBadly({ 503: 0.5 });
    const statuses = new Set<number>();
    for (let attempt = 0; attempt < 16; attempt += 1) statuses.add((await get()).status);
    expect(statuses).toEqual(new Set([200, 503]));
  });

  it('goes by what is asked for, not by how the URL is spelled', async () => {
    const spellings = ['?limit=10&offset=5', '?offset=5', '?offset=005&limit=10'];
    const rows = await Promise.all(spellings.map(async (query) => (await serveBadly({ shuffle: 1 })).rows(query)));
    expect(rows.slice(1)).toEqual([rows[0], rows[0]]);
  });

  it('strikes about as often as the rate says, each fault by itself', () => {
    const share = (isMeant: (chance: Chance) => boolean): number =>
      Array.from(
        { length: 2000 },
        (_, turn) => new Chance({ values: { 503: 0.1, cut: 0.1 }, seed: 9 }, 'x', turn),
      ).filter(isMeant).length / 2000;
    expect(share((chance) => chance.strikes('503'))).toBeCloseTo(0.1, 1);
    expect(share((chance) => chance.strikes('503') && chance.strikes('cut'))).toBeCloseTo(0.01, 1);
    expect(share((chance) => chance.strikes('drop'))).toBe(0);
  });
});

it.each<[FaultValues, number, string]>([
  [{ stall: 1.1 }, 1, 'stall'],
  [{ 429: -0.1 }, 1, '429'],
  [{ cut: Number.NaN }, 1, 'cut'],
  [{ clamp: 0 }, 1, 'clamp'],
  [{ clamp: 2.5 }, 1, 'clamp'],
  [{ drop: 0.1 }, -1, 'seed'],
  [{ drop: 0.1 }, 0.5, 'seed'],
])('%j with seed %d is refused before the service starts', async (values, seed, named) => {
  const starting = start({ faults: { values, seed, clock: manualClock() } });
  await expect(starting).rejects.toMatchObject({ code: 'usage', message: expect.stringContaining(named) });
});
