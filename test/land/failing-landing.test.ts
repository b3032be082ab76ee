/** A landing that could not write says so to everyone who comes after, and calls nothing landed that is not. */

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Worker, WorkerOptions } from 'node:worker_threads';
import { expect, it, onTestFinished, vi } from 'vitest';
import { systemReason } from '../../src/errors.ts';
import { answersFile, openLanding, type Landing } from '../../src/land/landing.ts';
import type { Answer } from '../../src/stages.ts';
import { describedRun } from '../support/landed.ts';

/** The threads that were begun, in their order; what the latest was given, and what the next one is given besides. */
const { threads, begun } = vi.hoisted((): { threads: Worker[]; begun: { as: WorkerOptions; with: WorkerOptions } } => ({
  threads: [],
  begun: { as: {}, with: {} },
}));

vi.mock('node:worker_threads', async (load) => {
  const real = await load<typeof import('node:worker_threads')>();
  return {
    ...real,
    Worker: class extends real.Worker {
      constructor(...[file, options]: ConstructorParameters<typeof Worker>) {
        super(file, { ...options, workerData: { ...options?.workerData, ...begun.with.workerData } });
        threads.push(this);
        begun.as = { ...options };
        begun.with = {};
      }
    },
  };
});

const whole: Answer = {
  request: { dataset: 'voters', district: 1101, offset: 0, limit: 10 },
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
  [noEnd]: { ...whole, request: makeCircle() },
} satisfies Record<string, Answer>;

function makeCircle(): Answer['request'] {
  const circle: Record<string, unknown> = { ...whole.request };
  circle['circle'] = circle;
  return circle as unknown as Answer['request'];
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
  // It ends by itself, so that nothing that waits is written before the landing is closed.
  await once(threads.at(-1)!, 'exit');
  await expect(landing.close()).rejects.toThrow(noNumber);
  const lines = await readFile(join(folder, answersFile), 'utf8');
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

it.each([
  ['has ended', 'The thread that writes the landing has ended.', (thread: Worker) => thread.terminate()],
  [
    'has failed as a whole',
    'no memory',
    async (thread: Worker) => {
      thread.emit('error', new Error('no memory'));
      // What it had under way comes to its end all the same.
      await once(thread, 'message');
    },
  ],
])('takes nothing more where its thread %s, and says so of what was under way', async (_, message, end) => {
  const landing = await makeLanding();
  const before = await landing.land(whole);
  await before.read();
  const thread = threads.at(-1)!;
  // So large that it is not done at once.
  const underWay = await landing.land({ ...whole, body: randomBytes(8 * 1024 * 1024) });
  await end(thread);
  await expect(landing.land(whole)).rejects.toThrow(message);
  await expect(underWay.read()).rejects.toThrow(message);
  expect(await before.read()).toEqual(whole.body);
  await expect(landing.close()).rejects.toThrow(message);
});

it('leaves no thread behind, whether it has failed or not', async () => {
  for (const answer of [whole, unwritable[noNumber]]) {
    const landing = await makeLanding();
    await landing.land(answer);
    await landing.close().catch(() => undefined);
    // A thread that has ended has no number.
    expect(threads.at(-1)!.threadId).toBe(-1);
  }
});

it('tells its thread nothing of the environment, where the API key may stand', async () => {
  await (await makeLanding()).close();
  expect(begun.as).toMatchObject({ env: {}, execArgv: [] });
  expect(Object.keys(begun.as.env ?? { none: 'given' })).toEqual([]);
});

it('says why the system refused, as if it had happened here', async () => {
  const folder = await makeFolder();
  await mkdir(folder);
  const path = join(folder, 'read-only');
  await writeFile(path, '');
  const file = await open(path, 'r');
  onTestFinished(() => file.close());
  begun.with = { workerData: { answers: file.fd } };
  const landing = await openLanding(folder, describedRun());
  await landing.land(whole);
  const failure = await landing.close().catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: 'EBADF', syscall: 'write' });
  expect(systemReason(failure)).toBe('bad file descriptor (EBADF)');
});

it('says so where no thread can be started', async () => {
  begun.with = { workerData: { answers: () => 'nothing that could be sent to a thread' } };
  await expect(makeLanding()).rejects.toThrow('The system starts no further thread');
});
