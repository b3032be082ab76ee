/** A landing that could not write says so to everyone who comes after, and calls nothing landed that is not. */

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { answersFile, openLanding, type Landing } from '../../src/land/landing.ts';
import type { Answer } from '../../src/stages.ts';
import { describedRun } from '../support/landed.ts';

const whole: Answer = {
  request: { dataset: 'voters', dapil: 1101, reading: 1, offset: 0, limit: 10 },
  url: 'http://source.test/api',
  status: 200,
  at: new Date('2026-11-20T03:00:02.500Z'),
  body: Buffer.from('{"count":0,"data":[]}'),
};

/** An answer at whose line the writing fails, as it would at a disk that is full. */
function unwritable(message: string): Answer {
  const at = new Date(whole.at);
  at.toISOString = () => {
    throw new Error(message);
  };
  return { ...whole, at };
}

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'rekap-landing-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return join(folder, 'run');
}

const makeLanding = async (): Promise<Landing> => openLanding(await makeFolder(), describedRun());

it('fails when it is closed, though nobody read the answer that could not be written', async () => {
  const landing = await makeLanding();
  await landing.land(unwritable('no space left'));
  await landing.land(whole);
  await expect(landing.close()).rejects.toThrow('no space left');
});

it('writes nothing behind what could not be written, so that what stands before it can be gone on from', async () => {
  const folder = await makeFolder();
  const landing = await openLanding(folder, describedRun());
  await Promise.all([whole, unwritable('no space left'), whole, whole].map((answer) => landing.land(answer)));
  await expect(landing.close()).rejects.toThrow('no space left');
  const lines = await readFile(join(folder, answersFile), 'utf8');
  expect(lines.trimEnd().split('\n')).toHaveLength(1);
});

it('tells the first failure, not those that follow from it', async () => {
  const landing = await makeLanding();
  await Promise.all(['the first', 'the second', 'the third'].map((message) => landing.land(unwritable(message))));
  await expect(landing.close()).rejects.toThrow('the first');
});

it('takes nothing more once it has failed', async () => {
  const landing = await makeLanding();
  const read = await landing.land(unwritable('no space left'));
  await expect(read()).rejects.toThrow('no space left');
  await expect(landing.land(whole)).rejects.toThrow('no space left');
  await expect(landing.close()).rejects.toThrow('no space left');
});

it('gives what it had landed before back', async () => {
  const landing = await makeLanding();
  const read = await landing.land(whole);
  await (await landing.land(unwritable('no space left')))().catch(() => undefined);
  expect(await read()).toEqual(whole.body);
  await expect(landing.close()).rejects.toThrow('no space left');
});
