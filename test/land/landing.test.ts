/** A landing keeps every response in order, returns it byte for byte, and detects damage. */

import { createHash, randomBytes } from 'node:crypto';
import { mkdir, open, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import { type LandedResponse, responsesFile, bodiesFile } from '../../src/land/formats.ts';
import { openLanding } from '../../src/land/landing.ts';
import { requestOf } from '../support/page-request.ts';
import { voters, votingRightsUsers } from '../support/bundled.ts';
import { describedRun } from '../support/landed.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import type { SourceResponse } from '../../src/stages.ts';

let folder: string;

beforeEach(async () => {
  folder = join(await temporaryFolder(), 'landing', 'run');
});

const megabyte = 1024 * 1024;
const described = describedRun();

function responseOf(body: string | Buffer, rest: Partial<SourceResponse> = {}): SourceResponse {
  return {
    request: requestOf(voters, { partition: '1101' }),
    url: 'http://source.test/api/datapemilihdpr?id_dapil=1101&limit=1000&offset=0',
    status: 200,
    at: new Date('2026-11-20T03:00:02.500Z'),
    body: Buffer.from(body as string),
    ...rest,
  };
}

/** Responses of these sizes whose bytes can't be compressed, each with another URL. */
const responsesOf = (sizes: readonly number[]): SourceResponse[] =>
  sizes.map((size, offset) => responseOf(randomBytes(size), { url: `http://source.test/${offset}` }));

async function readLines(): Promise<LandedResponse[]> {
  const text = await readFile(join(folder, responsesFile), 'utf8');
  expect(text === '' || text.endsWith('\n')).toBe(true);
  const lines = text.split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as LandedResponse);
}

/** Lets everything continue that doesn't wait for a file. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 100; turn += 1) await Promise.resolve();
}

it('writes one file that decompresses to all bodies, and a line for each response', async () => {
  const responses = [
    responseOf(JSON.stringify(Array.from({ length: 1000 }, (_, place) => ({ NamaKabupaten: `R${place}` })))),
    responseOf('', { status: 503, request: requestOf(votingRightsUsers, { offset: 40, limit: 20 }) }),
    responseOf(Buffer.of(0, 255, 10, 13), { status: 404, at: new Date(0), url: 'http://source.test/"ü"' }),
  ];
  const landing = await openLanding(folder, described);
  for (const response of responses) await landing.land(response);
  await landing.close();
  const bodies = await readFile(join(folder, bodiesFile));
  expect(gunzipSync(bodies)).toEqual(Buffer.concat(responses.map(({ body }) => body)));
  expect(bodies.length).toBeLessThan(responses[0]!.body.length / 3);
  const lines = await readLines();
  expect(lines).toEqual(
    responses.map(({ request: { dataset, partition }, url, status, at, body }) => ({
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
  expect(slices).toEqual(responses.map(({ body }) => body));
});

it('numbers each body, and returns it before and after later ones', async () => {
  const landing = await openLanding(folder, described);
  const reads: (() => Promise<boolean>)[] = [];
  for (const { body, ...rest } of responsesOf([0, 1, 1000, megabyte, 17])) {
    const landed = await landing.land({ ...rest, body });
    expect(landed.response).toBe(reads.length);
    reads.push(async () => body.equals(await landed.read()));
    expect(await reads.at(-1)!()).toBe(true);
  }
  expect(await Promise.all(reads.toReversed().map((isSame) => isSame()))).toEqual(reads.map(() => true));
  await landing.close();
});

it('refuses a folder with a landing or a part of one, and does not change it', async () => {
  const first = await openLanding(folder, described);
  await first.land(responseOf('first'));
  await expect(openLanding(folder, described)).rejects.toThrow(/EEXIST/);
  await first.land(responseOf('second'));
  await first.close();
  expect(gunzipSync(await readFile(join(folder, bodiesFile))).toString()).toBe('firstsecond');
  const other = await temporaryFolder();
  await mkdir(other, { recursive: true });
  await writeFile(join(other, responsesFile), 'kept');
  await expect(openLanding(other, described)).rejects.toThrow(/EEXIST/);
  expect(await readFile(join(other, responsesFile), 'utf8')).toBe('kept');
});

it.each(['one after another', 'all at once'])(
  'keeps the order of many responses, and lets callers wait while too many are pending: %s',
  async (manner) => {
    const landing = await openLanding(folder, described);
    const responses = responsesOf(Array.from({ length: 24 }, () => megabyte));
    let taken = 0;
    const lands = [];
    for (const response of responses) {
      lands.push(
        landing.land(response).then((landed) => {
          taken += 1;
          return landed;
        }),
      );
      if (manner === 'one after another') await settle();
    }
    await settle();
    // Nothing is written yet, so everything that was taken is in memory.
    expect(taken).toBeGreaterThan(0);
    expect(taken).toBeLessThan(20);
    const bodies = await Promise.all(lands.map(async (landed) => (await landed).read()));
    expect(bodies.every((body, place) => body.equals(responses[place]!.body))).toBe(true);
    await landing.close();
    const lines = await readLines();
    expect(lines.map(({ url }) => url)).toEqual(responses.map(({ url }) => url));
    const ends = lines.map(({ position, length }) => position + length);
    expect(lines.map(({ position }) => position)).toEqual([0, ...ends.slice(0, -1)]);
    expect(ends.at(-1)).toBe((await stat(join(folder, bodiesFile))).size);
  },
);

it('takes a response that is larger than everything that may be pending', async () => {
  const landing = await openLanding(folder, described);
  const large = responseOf(Buffer.alloc(20 * megabyte, 'x'));
  const reads = await Promise.all([large, responseOf('small'), large].map((response) => landing.land(response)));
  expect((await reads[1]!.read()).toString()).toBe('small');
  expect((await reads[2]!.read()).equals(large.body)).toBe(true);
  await landing.close();
});

describe('a damaged landing', () => {
  async function overwrite(file: string, position: number, bytes: Buffer): Promise<void> {
    const handle = await open(file, 'r+');
    await handle.write(bytes, 0, bytes.length, position);
    await handle.close();
  }

  it.each<[string, (file: string, second: LandedResponse) => Promise<void>]>([
    ['truncated', async (file, { position, length }) => truncate(file, position + length - 6)],
    ['without the body', async (file, { position }) => truncate(file, position)],
    ['with other bytes', async (file, { position }) => overwrite(file, position + 2, randomBytes(12))],
    ['with zeros', async (file, { position, length }) => overwrite(file, position, Buffer.alloc(length))],
  ])('refuses a damaged body, and returns an intact one: %s', async (_, damage) => {
    const landing = await openLanding(folder, described);
    const [first, second] = [await landing.land(responseOf('first')), await landing.land(responseOf('second'))];
    await second.read();
    const file = join(folder, bodiesFile);
    await damage(file, (await readLines())[1]!);
    expect((await first.read()).toString()).toBe('first');
    await expect(second.read()).rejects.toMatchObject({ code: 'landing', message: expect.stringContaining(file) });
    await landing.close();
  });

  it('refuses another intact body by its hash', async () => {
    const landing = await openLanding(folder, described);
    const read = await landing.land(responseOf('AAAA'));
    await read.read();
    const otherFolder = join(folder, '..', 'other');
    const other = await openLanding(otherFolder, described);
    await other.land(responseOf('BBBB'));
    await other.close();
    const bytes = await readFile(join(otherFolder, bodiesFile));
    expect(bytes).toHaveLength((await readLines())[0]!.length);
    await overwrite(join(folder, bodiesFile), 0, bytes);
    const message = expect.stringContaining('SHA-256');
    await expect(read.read()).rejects.toMatchObject({ code: 'landing', message });
    await landing.close();
  });
});
