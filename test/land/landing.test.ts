/** A landing keeps every answer as it came, in order, gives it back byte for byte, and notices when it no longer can. */

import { createHash, randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, open, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RekapError } from '../../src/errors.ts';
import { type LandedResponse, responsesFile, bodiesFile } from '../../src/land/formats.ts';
import { openLanding } from '../../src/land/landing.ts';
import { requestOf } from '../support/asked.ts';
import { voters, votingRightsUsers } from '../support/bundled.ts';
import { describedRun } from '../support/landed.ts';
import type { SourceResponse } from '../../src/stages.ts';

let root: string;
let folder: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'rekap-landing-'));
  folder = join(root, 'landing', 'run');
});

afterEach(async () => {
  await rm(root, { recursive: true, force: true });
});

const megabyte = 1024 * 1024;

const described = describedRun();

function answerOf(body: string | Buffer, rest: Partial<SourceResponse> = {}): SourceResponse {
  return {
    request: requestOf(voters, { partition: '1101' }),
    url: 'http://source.test/api/datapemilihdpr?id_dapil=1101&limit=1000&offset=0',
    status: 200,
    at: new Date('2026-11-20T03:00:02.500Z'),
    body: Buffer.from(body as string),
    ...rest,
  };
}

/** Answers of these sizes whose bytes do not compress, told apart by their URL. */
function answersOf(sizes: readonly number[]): SourceResponse[] {
  return sizes.map((size, offset) =>
    answerOf(randomBytes(size), {
      request: requestOf(voters, { offset, limit: 10 }),
      url: `http://source.test/${offset}`,
    }),
  );
}

it('takes far less room than what came, for records are much alike', async () => {
  const landing = await openLanding(folder, described);
  const body = JSON.stringify(Array.from({ length: 1000 }, (_, place) => ({ NamaKabupaten: `R${place}` })));
  await landing.land(answerOf(body));
  await landing.close();
  const { size } = await stat(join(folder, bodiesFile));
  expect(size).toBeLessThan(body.length / 3);
});

async function readLines(): Promise<LandedResponse[]> {
  const text = await readFile(join(folder, responsesFile), 'utf8');
  expect(text === '' || text.endsWith('\n')).toBe(true);
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as LandedResponse);
}

/** Lets everything go on that waits for no file. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 100; turn += 1) await Promise.resolve();
}

describe('openLanding', () => {
  it('writes one file that unzips to all bodies and one line for each answer', async () => {
    const answers = [
      answerOf('{"count":0,"data":[]}'),
      answerOf('', {
        status: 503,
        request: requestOf(votingRightsUsers, { offset: 40, limit: 20 }),
      }),
      answerOf(Buffer.of(0, 255, 10, 13), { status: 404, at: new Date(0), url: 'http://source.test/"ü"' }),
    ];
    const landing = await openLanding(folder, described);
    for (const answer of answers) await landing.land(answer);
    await landing.close();
    const bodies = await readFile(join(folder, bodiesFile));
    expect(gunzipSync(bodies)).toEqual(Buffer.concat(answers.map(({ body }) => body)));
    const lines = await readLines();
    expect(lines).toEqual(
      answers.map(({ request: { dataset, partition }, url, status, at, body }) => ({
        dataset,
        partition,
        url,
        status,
        at: at.toISOString(),
        bytes: body.length,
        sha256: createHash('sha256').update(body).digest('hex'),
        position: expect.any(Number),
        length: expect.any(Number),
      })),
    );
    const slices = lines.map(({ position, length }) => gunzipSync(bodies.subarray(position, position + length)));
    expect(slices).toEqual(answers.map(({ body }) => body));
  });

  it('gives each body its number, and back, before and after later ones were landed', async () => {
    const landing = await openLanding(folder, described);
    const reads: (() => Promise<boolean>)[] = [];
    for (const { body, ...rest } of answersOf([0, 1, 1000, megabyte, 17])) {
      const landed = await landing.land({ ...rest, body });
      expect(landed.response).toBe(reads.length);
      reads.push(async () => body.equals(await landed.read()));
      expect(await reads.at(-1)!()).toBe(true);
    }
    expect(await Promise.all(reads.toReversed().map((same) => same()))).toEqual(reads.map(() => true));
    await landing.close();
  });

  it('has everything on the disk once it is closed, also where nothing was landed', async () => {
    const landing = await openLanding(folder, described);
    await landing.close();
    expect(await readLines()).toEqual([]);
    expect(await readFile(join(folder, bodiesFile))).toHaveLength(0);
  });

  it('refuses a folder that holds a landing, and leaves it as it was', async () => {
    const first = await openLanding(folder, described);
    await first.land(answerOf('first'));
    await expect(openLanding(folder, described)).rejects.toThrow(/EEXIST/);
    await first.land(answerOf('second'));
    await first.close();
    await expect(openLanding(folder, described)).rejects.toThrow(/EEXIST/);
    expect(gunzipSync(await readFile(join(folder, bodiesFile))).toString()).toBe('firstsecond');
    expect(await readLines()).toHaveLength(2);
  });

  it('refuses a folder in which one of the two files is left', async () => {
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, responsesFile), 'kept');
    await expect(openLanding(folder, described)).rejects.toThrow(/EEXIST/);
    expect(await readFile(join(folder, responsesFile), 'utf8')).toBe('kept');
  });

  it('keeps the order of many answers at once, beyond what may wait', async () => {
    const answers = answersOf(Array.from({ length: 40 }, (_, place) => (place % 3 === 0 ? 10 : megabyte)));
    const landing = await openLanding(folder, described);
    const reads = await Promise.all(answers.map((answer) => landing.land(answer)));
    const read = await Promise.all(reads.map((body) => body.read()));
    expect(read.every((body, place) => body.equals(answers[place]!.body))).toBe(true);
    await landing.close();
    const lines = await readLines();
    expect(lines.map(({ url }) => url)).toEqual(answers.map(({ url }) => url));
    const ends = lines.map(({ position, length }) => position + length);
    expect(lines.map(({ position }) => position)).toEqual([0, ...ends.slice(0, -1)]);
    expect(ends.at(-1)).toBe((await stat(join(folder, bodiesFile))).size);
  });

  it.each(['one after another', 'all at once'])(
    'makes its callers wait where too much waits already: %s',
    async (manner) => {
      const landing = await openLanding(folder, described);
      const lands: Promise<unknown>[] = [];
      let taken = 0;
      for (const answer of answersOf(Array.from({ length: 40 }, () => megabyte))) {
        lands.push(landing.land(answer).then(() => (taken += 1)));
        if (manner === 'one after another') await settle();
      }
      await settle();
      // Nothing has been written yet, so whatever was taken is in memory.
      expect(taken).toBeGreaterThan(0);
      expect(taken).toBeLessThan(20);
      await Promise.all(lands);
      await landing.close();
      expect(await readLines()).toHaveLength(40);
    },
  );

  it('takes an answer that is larger than all that may wait', async () => {
    const landing = await openLanding(folder, described);
    const large = answerOf(Buffer.alloc(40 * megabyte, 'x'));
    const reads = await Promise.all([large, answerOf('small'), large].map((answer) => landing.land(answer)));
    expect((await reads[1]!.read()).toString()).toBe('small');
    expect((await reads[2]!.read()).equals(large.body)).toBe(true);
    await landing.close();
  });
});

describe('a damaged landing', () => {
  /** Lands two bodies, lets `damage` at the file, and reads both back. */
  async function readAfter(
    damage: (file: string, second: LandedResponse) => Promise<void>,
  ): Promise<PromiseSettledResult<Buffer>[]> {
    const landing = await openLanding(folder, described);
    const reads = [await landing.land(answerOf('first body')), await landing.land(answerOf('second body'))];
    await Promise.all(reads.map((read) => read.read()));
    await damage(join(folder, bodiesFile), (await readLines())[1]!);
    const results = await Promise.allSettled(reads.map((read) => read.read()));
    await landing.close();
    return results;
  }

  async function overwrite(file: string, position: number, bytes: Buffer): Promise<void> {
    const handle = await open(file, 'r+');
    await handle.write(bytes, 0, bytes.length, position);
    await handle.close();
  }

  it.each([
    ['is cut off', async (file: string, { position, length }: LandedResponse) => truncate(file, position + length - 6)],
    ['has lost a body', async (file: string, { position }: LandedResponse) => truncate(file, position)],
    [
      'holds other bytes',
      async (file: string, { position }: LandedResponse) => overwrite(file, position + 2, randomBytes(12)),
    ],
    [
      'holds zeros',
      async (file: string, { position, length }: LandedResponse) => overwrite(file, position, Buffer.alloc(length)),
    ],
  ])('that %s is refused by name, and what is whole is still read', async (_, damage) => {
    const [first, second] = await readAfter(damage);
    expect(first).toMatchObject({ status: 'fulfilled', value: Buffer.from('first body') });
    expect(second).toMatchObject({ status: 'rejected', reason: expect.any(RekapError) });
    expect(String((second as PromiseRejectedResult).reason)).toContain(join(folder, bodiesFile));
  });

  it('that holds another whole body is refused by its hash', async () => {
    const landing = await openLanding(folder, described);
    const read = await landing.land(answerOf('AAAA'));
    await read.read();
    const [line] = await readLines();
    const other = await openLanding(join(root, 'other'), described);
    await other.land(answerOf('BBBB'));
    await other.close();
    const bytes = await readFile(join(root, 'other', bodiesFile));
    expect(bytes).toHaveLength(line!.length);
    await overwrite(join(folder, bodiesFile), 0, bytes);
    await expect(read.read()).rejects.toThrow(expect.objectContaining({ code: 'landing' }));
    await expect(read.read()).rejects.toThrow(/SHA-256/);
    await landing.close();
  });
});
