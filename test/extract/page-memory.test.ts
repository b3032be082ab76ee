/** Pages that can be read again don't stay in memory. */

import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { openLanding } from '../../src/land/landing.ts';
import type { LandedBody } from '../../src/stages.ts';
import { requestOf } from '../support/page-request.ts';
import { voters } from '../support/bundled.ts';
import { describedRun } from '../support/landed.ts';
import { collect } from '../support/run-extract.ts';
import { faultless, simulateSource } from '../support/simulated-source.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** The number of these that are still in memory. */
async function countAlive(references: readonly WeakRef<object>[]): Promise<number> {
  // The event loop releases references at the end of a turn.
  await new Promise((resolve) => setImmediate(resolve));
  collectGarbage();
  return references.filter((reference) => reference.deref() !== undefined).length;
}

it('releases the pages of a long partition while it waits for its proof', async () => {
  const records = Array.from({ length: 60 }, (_, place) => ({ partition: 1101, regency: `R${place}`, people: place }));
  const source = simulateSource(records, faultless, () => 0.5);
  const pages: WeakRef<object>[] = [];
  const recording = {
    ...source,
    async fetchPage(...[pipeline, request]: Parameters<typeof source.fetchPage>) {
      const { page, at } = await source.fetchPage(pipeline, request);
      const bytes = Buffer.from(page.bytes);
      pages.push(new WeakRef(bytes));
      const text = bytes.toString();
      const landed = { response: 0, read: async () => Buffer.from(text) };
      return { page: { ...page, bytes }, at, landed, refusal: null, link: null };
    },
  };
  let alive = -1;
  const settings = { client: recording, report: () => {}, pageSize: 3, heldBytes: 0 };
  await collect(settings, async () => {
    alive = await countAlive(pages);
  });
  expect(pages.length).toBeGreaterThan(20);
  expect(alive).toBeLessThan(4);
});

it('releases a landed response that can be read back', async () => {
  const landing = await openLanding(join(await temporaryFolder(), 'landing'), describedRun());
  const bodies: WeakRef<object>[] = [];
  const kept: LandedBody[] = [];
  for (let offset = 0; offset < 10; offset += 1) {
    const body = Buffer.from(`response ${offset} of ten`.repeat(100));
    bodies.push(new WeakRef(body));
    const request = requestOf(voters, { offset, limit: 1 });
    kept.push(await landing.land({ request, url: 'http://source.test/', status: 200, at: new Date(0), body }));
  }
  expect((await kept[3]!.read()).toString()).toContain('response 3 of ten');
  await kept[9]!.read();
  expect(await countAlive(bodies)).toBeLessThan(3);
  await landing.close();
});
