/** After a failed write, a landing fails for all its callers, and reports nothing as landed that isn't. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { responsesFile } from '../../src/land/formats.ts';
import { openLanding } from '../../src/land/landing.ts';
import type { SourceResponse } from '../../src/stages.ts';
import { requestOf } from '../support/page-request.ts';
import { voters } from '../support/bundled.ts';
import { describedRun } from '../support/landed.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const whole: SourceResponse = {
  request: requestOf(voters, { partition: '1101', limit: 10 }),
  url: 'http://source.test/api',
  status: 200,
  at: new Date('2026-11-20T03:00:02.500Z'),
  body: Buffer.from('{"count":0,"data":[]}'),
};
const circle: Record<string, unknown> = {};
circle['circle'] = circle;

// Their bodies can be written, but not their lines, as on a full disk.
const unwritable = { ...whole, url: 1n as unknown as string };
const circular = { ...whole, status: circle as unknown as number };
const failure = 'serialize a BigInt';

async function open() {
  const folder = join(await temporaryFolder(), 'run');
  return { folder, landing: await openLanding(folder, describedRun()) };
}

it.each<[string, SourceResponse[], string]>([
  ['although the response is not read', [unwritable, whole], failure],
  ['with the first of several errors', [unwritable, whole, circular], failure],
  ['with the first of several errors, in another order', [circular, whole, unwritable], 'circular structure'],
])('fails when it is closed, %s', async (_what, responses, message) => {
  const { landing } = await open();
  await Promise.all(responses.map((response) => landing.land(response)));
  await expect(landing.close()).rejects.toThrow(message);
});

it('writes nothing after a failed write, so that a later run can resume', async () => {
  const { folder, landing } = await open();
  await Promise.all([whole, unwritable, whole, whole].map((response) => landing.land(response)));
  await expect(landing.close()).rejects.toThrow(failure);
  const lines = await readFile(join(folder, responsesFile), 'utf8');
  expect(lines.trimEnd().split('\n')).toHaveLength(1);
});

it('refuses responses after a failure, and still returns what it landed before', async () => {
  const { landing } = await open();
  const before = await landing.land(whole);
  const read = await landing.land(unwritable);
  await expect(read.read()).rejects.toThrow(failure);
  await expect(landing.land(whole)).rejects.toThrow(failure);
  expect(await before.read()).toEqual(whole.body);
  await expect(landing.close()).rejects.toThrow(failure);
});
