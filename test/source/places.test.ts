/** How many requests are under way at a time, and who gives a place away when. */

import { expect, it } from 'vitest';
import { voters } from '../support/bundled.ts';
import { SourceClient } from '../../src/source/source-client.ts';
import { Secret } from '../../src/source/secret.ts';
import { requestOf } from '../support/asked.ts';
import { manualClock } from '../support/manual-clock.ts';

const text = '{"count":1,"data":{"IdDapil":"1101"}}';

/** What a partition's requests are answered with, one after the other, and whole from then on. */
type Scripts = Readonly<Record<string, readonly { readonly status?: number; readonly body?: string }[]>>;

/** A client of a source that answers by `scripts`: for which partitions it was asked in turn, and the most requests that were under way at once. */
function connect(concurrency: number, scripts: Scripts = {}, instead: () => string | null = () => null) {
  const sent: string[] = [];
  const asked = new Map<string, number>();
  let underWay = 0;
  let most = 0;
  const client = new SourceClient(
    { baseUrl: 'http://source.test', apiKey: new Secret('a-key-of-tests'), concurrency, timeout: 5000, maxAttempts: 3 },
    {
      transport: {
        async send({ partition }) {
          sent.push(partition!);
          underWay += 1;
          most = Math.max(most, underWay);
          const turn = asked.get(partition!) ?? 0;
          asked.set(partition!, turn + 1);
          // Every request waits for the others that are let go on now.
          await new Promise((resolve) => setImmediate(resolve));
          underWay -= 1;
          const scripted = scripts[partition!]?.[turn] ?? {};
          const { status = 200, body = instead() ?? text.replace('1101', partition!) } = scripted;
          return { status, headers: {}, body: Buffer.from(body) };
        },
        async close() {},
      },
      resumed: [],
      clock: manualClock(),
      random: () => 0.5,
      report: () => undefined,
      land: async ({ body }) => ({ response: 0, read: async () => body }),
      signal: new AbortController().signal,
    },
  );
  const fetch = (ids: readonly string[]) =>
    Promise.all(
      ids.map(async (partition) => {
        const { page } = await client.fetchPage(voters, requestOf(voters, { partition, limit: 10 }));
        return page.records.length;
      }),
    );
  return { client, fetch, sent, most: () => most };
}

const partitions = Array.from({ length: 20 }, (_, place) => String(1101 + place));

it('no more requests are under way than were asked for, and no fewer while there is something to ask', async () => {
  const { fetch, most } = connect(3);
  expect(await fetch(partitions)).toEqual(partitions.map(() => 1));
  expect(most()).toBe(3);
});

it('a request that the source refused for now keeps its place while it waits', async () => {
  const { fetch, sent } = connect(1, { 1101: [{ status: 503 }, { status: 429 }] });
  await fetch(['1101', '1102']);
  expect(sent).toEqual(['1101', '1101', '1101', '1102']);
});

it('an answer that turns out to be cut short counts as an attempt, and is asked for again', async () => {
  const short = { body: text.slice(0, -5) };
  const mended = connect(1, { 1101: [short, short] });
  expect(await mended.fetch(['1101', '1102'])).toEqual([1, 1]);
  expect(mended.client.figures).toMatchObject({ requests: 4, retries: 2 });
  const lasting = connect(1, { 1101: [short, { status: 503 }, short, short] });
  await expect(lasting.fetch(['1101'])).rejects.toThrow(/given up after 3 attempts/);
});

it('a source of which every other answer is cut short, as behind two backends, is read to the end', async () => {
  let answers = 0;
  const { fetch } = connect(1, {}, () => (answers++ % 2 === 0 ? text.slice(0, -5) : null));
  expect(await fetch(partitions)).toEqual(partitions.map(() => 1));
});
