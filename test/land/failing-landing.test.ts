/** A landing that could not write says so to everyone who comes after, and calls nothing landed that is not. */

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { responsesFile } from '../../src/land/formats.ts';
import { type Landing, openLanding } from '../../src/land/landing.ts';
import type { SourceResponse } from '../../src/stages.ts';
import { requestOf } from '../support/asked.ts';
import { voters } from '../support/bundled.ts';
import { describedRun } from '../support/landed.ts';

const whole: SourceResponse = {
  request: requestOf(voters, { partition: '1101', limit: 10 }),
  url: 'http://source.test/api',
  status: 200,
  at: new Date('2026-11-20T03:00:02.500Z'),
  body: Buffer.from('{"count":0,"data":[]}'),
};

const noNumber = 'serialize a BigInt';
const noEnd = 'circular structure';

/** Answers at whose line the writing fails, after the body was written, as it would at a disk that is full; and how each says so. */
const unwritable = {
  [noNumber]: { ...whole, url: 1n as unknown as string },
  [noEnd]: { ...whole, status: makeCircle() },
} satisfies Record<string, SourceResponse>;

function makeCircle(): number {
  const circle: Record<string, unknown> = {};
  circle['circle'] = circle;
  return circle as unknown as number;
}

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'rekap-landing-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return join(folder, 'run');
}

const makeLanding = async (): Promise<Landing> => openLanding(await makeFolder(), describedRun());

it('fails when it is closed, though nobody read the answer that could not be written', async () => {
  const landing = await makeLanding();
  await landing.land(unwritable[noNumber]);
  await landing.land(whole);
  await expect(landing.close()).rejects.toThrow(noNumber);
});

it('writes nothing behind what could not be written, so that what stands before it can be gone on from', async () => {
  const folder = await makeFolder();
  const landing = await openLanding(folder, describedRun());
  await Promise.all([whole, unwritable[noNumber], whole, whole].map((answer) => landing.land(answer)));
  await expect(landing.close()).rejects.toThrow(noNumber);
  const lines = await readFile(join(folder, responsesFile), 'utf8');
  expect(lines.trimEnd().split('\n')).toHaveLength(1);
});

it.each([
  [noNumber, noEnd],
  [noEnd, noNumber],
] as const)('tells the first failure, not those that follow from it: %s', async (first, second) => {
  const landing = await makeLanding();
  await Promise.all([unwritable[first], whole, unwritable[second]].map((answer) => landing.land(answer)));
  await expect(landing.close()).rejects.toThrow(first);
});

it('takes nothing more once it has failed', async () => {
  const landing = await makeLanding();
  const read = await landing.land(unwritable[noNumber]);
  await expect(read.read()).rejects.toThrow(noNumber);
  await expect(landing.land(whole)).rejects.toThrow(noNumber);
  await expect(landing.close()).rejects.toThrow(noNumber);
});

it('gives what it had landed before back', async () => {
  const landing = await makeLanding();
  const read = await landing.land(whole);
  await (await landing.land(unwritable[noNumber])).read().catch(() => undefined);
  expect(await read.read()).toEqual(whole.body);
  await expect(landing.close()).rejects.toThrow(noNumber);
});
