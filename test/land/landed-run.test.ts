/** A landing is read back as it was written, or refused: whatever happens to its files, no response is ever a wrong one. */

import fc from 'fast-check';
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { isRekapError } from '../../src/errors.ts';
import { type LandedResponse, type RunFile, responsesFile, bodiesFile, runFile } from '../../src/land/formats.ts';
import { type LandedRun, openLandedRun, readRunFile } from '../../src/land/landed-run.ts';
import { openLanding } from '../../src/land/landing.ts';
import type { AnyPipeline } from '../../src/project/declaration.ts';
import type { SourceResponse, PageRequest } from '../../src/stages.ts';
import { type PageParameters, requestOf as requestTo } from '../support/page-request.ts';
import { voters, votingRightsUsers } from '../support/bundled.ts';
import { describedRun } from '../support/landed.ts';
import { holds } from '../support/properties.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const described = describedRun({ previous: '20261119T030002Z-1f3a9c', partitions: ['1101'] });
const requestOf = (change: Partial<PageParameters> = {}, pipeline: AnyPipeline = voters): PageRequest =>
  requestTo(pipeline, { partition: '1101', limit: 10, ...change });
const responseOf = (
  body: string,
  { request = requestOf(), ...rest }: Partial<SourceResponse> = {},
): SourceResponse => ({
  request,
  url: new URL(request.target, described.base_url).href,
  status: 200,
  at: new Date('2026-11-20T03:00:02.500Z'),
  body: Buffer.from(body),
  ...rest,
});

async function land(folder: string, ...responses: readonly SourceResponse[]): Promise<string> {
  const landing = await openLanding(folder, described);
  for (const response of responses) await landing.land(response);
  await landing.close();
  return folder;
}

/** A landing of these responses in its own folder. */
const landed = async (...responses: readonly SourceResponse[]): Promise<string> =>
  land(join(await temporaryFolder(), 'run'), ...responses);

async function open(folder: string, since: Date | null = null): Promise<LandedRun> {
  const run = await openLandedRun(folder, since);
  onTestFinished(() => run.close());
  return run;
}

describe('a landed run', () => {
  it('returns the response to each request, and no other', async () => {
    const requests = [
      requestOf(),
      requestOf({ partition: null }),
      requestOf({ offset: 10 }),
      requestOf({ limit: 20 }),
      requestOf({}, votingRightsUsers),
      // Two tables can have the same path.
      { ...requestOf(), dataset: 'others' },
      // A next page can have another host.
      { ...requestOf(), target: 'http://elsewhere.test/api?after=1' },
    ];
    const responses = requests.map((request, place) =>
      responseOf(`body ${place}`, { request, status: 200 + place, at: new Date(place) }),
    );
    const run = await open(await landed(...responses));
    expect([run.size, run.file]).toEqual([responses.length, described]);
    for (const [place, response] of responses.entries()) {
      expect(run.has(response.request)).toBe(true);
      expect(await run.responseTo(response.request)).toEqual(response);
      expect((await run.response(place)).body).toEqual(response.body);
    }
    await expect(run.response(responses.length)).rejects.toThrow(/has no line 8/);
    for (const missing of [{ offset: 1 }, { limit: 1 }, { partition: '1102' }, { partition: null, offset: 1 }]) {
      expect(run.has(requestOf(missing))).toBe(false);
      expect(await run.responseTo(requestOf(missing))).toBeNull();
    }
  });

  it('returns the last page of several responses, and no failure in its place', async () => {
    const busy = responseOf('busy', { status: 503 });
    for (const responses of [
      [busy, responseOf('page')],
      [responseOf('old'), responseOf('page'), busy],
    ])
      expect((await (await open(await landed(...responses))).responseTo(requestOf()))?.body.toString()).toBe('page');
  });

  it('omits responses before a given time', async () => {
    const responses = [1, 2, 3].map((offset) =>
      responseOf('', { request: requestOf({ offset }), at: new Date(offset) }),
    );
    const run = await open(await landed(...responses), new Date(2));
    expect([1, 2, 3].map((offset) => run.has(requestOf({ offset })))).toEqual([false, true, true]);
  });

  it('ignores an unfinished last line, and no other damaged line', async () => {
    const folder = await landed(responseOf('page'));
    const file = join(folder, responsesFile);
    const line = await readFile(file, 'utf8');
    await appendFile(file, line.slice(0, -20));
    expect((await open(folder)).size).toBe(1);
    await appendFile(file, '\n');
    await expect(open(folder)).rejects.toThrow(/^Line 2 of .*responses\.jsonl is damaged/);
  });

  it.each([bodiesFile, responsesFile, runFile])('is refused without %s', async (name) => {
    const folder = await landed(responseOf('page'));
    await rm(join(folder, name));
    const message = expect.stringContaining(name);
    await expect(open(folder)).rejects.toMatchObject({ code: 'landing', message });
  });
});

/** The value, or null if it is refused as a damaged landing. Any other error fails the test. */
async function orRefused<Value>(value: Promise<Value>): Promise<Value | null> {
  try {
    return await value;
  } catch (error) {
    if (isRekapError(error, 'landing')) return null;
    throw error;
  }
}

describe('with any content', () => {
  let folder: string;
  let line: Record<string, unknown>;
  beforeAll(async () => {
    folder = await land(join(await mkdtemp(join(tmpdir(), 'rekap-landed-')), 'run'), responseOf('page'));
    line = JSON.parse(await readFile(join(folder, responsesFile), 'utf8')) as Record<string, unknown>;
  });
  afterAll(() => rm(join(folder, '..'), { recursive: true, force: true }));

  const wrong = fc.oneof(
    fc.constantFrom<unknown>(undefined, null, -1, 0, 1.5, 2 ** 53, '', 'x', true, [], {}, [1], ['x'], [null]),
    fc.jsonValue({ maxDepth: 1 }),
  );
  /** An object with up to two members removed or replaced. */
  const changed = (members: () => object) =>
    fc.array(fc.tuple(fc.nat(), wrong), { maxLength: 2 }).map((changes) => {
      const entries = Object.entries(members());
      const replaced = new Map<string, unknown>(entries);
      for (const [choice, value] of changes) replaced.set(entries[choice % entries.length]![0], value);
      return JSON.stringify(Object.fromEntries(replaced));
    });

  holds(
    'a line is a response with the body that it names, or the landing is refused',
    fc.asyncProperty(fc.oneof({ weight: 5, arbitrary: changed(() => line) }, fc.json()), async (text) => {
      await writeFile(join(folder, responsesFile), `${text.replaceAll('\n', ' ')}\n`);
      const run = await orRefused(openLandedRun(folder, null));
      if (run === null) return;
      const { dataset, partition, url, at } = JSON.parse(text) as LandedResponse;
      const target = url.startsWith(`${described.base_url}/`) ? url.slice(described.base_url.length) : url;
      expect(run.has({ dataset, partition, target })).toBe(true);
      const response = await orRefused(run.responseTo({ dataset, partition, target }));
      await run.close();
      if (response === null) return;
      expect(response.body.toString()).toBe('page');
      expect(response.at.getTime()).toBe(Date.parse(at));
    }),
    { runs: 60 },
  );

  holds(
    'run.json describes a run that can be replayed, or is refused',
    fc.asyncProperty(
      fc.oneof({ weight: 5, arbitrary: changed(() => described) }, fc.json(), fc.string()),
      async (text) => {
        await writeFile(join(folder, runFile), text);
        const run = await orRefused(readRunFile(folder));
        if (run === null) return;
        expect(run).toEqual(JSON.parse(text));
        const { source, base_url, started_at, previous, datasets, partitions, page_size } = run;
        expect(new URL(base_url).href).toContain(':');
        expect(Number.isNaN(Date.parse(started_at))).toBe(false);
        const texts = [source, run.run, previous ?? '', ...datasets, ...(partitions ?? [])];
        expect(texts.every((each) => typeof each === 'string')).toBe(true);
        expect(Number.isSafeInteger(page_size) && page_size >= 0).toBe(true);
        expect(run.project).toEqual(described.project);
      },
    ),
    { runs: 60 },
  );
});

it.each<[Partial<Record<keyof RunFile, unknown>> | string, string?]>([
  ['{'],
  [{ format: 2 }, 'has format 2, but this release of rekap reads only format 3'],
  [{ run: '../..' }],
  [{ source: null }],
  [{ base_url: 'nowhere' }],
  [{ started_at: '2026-99-20T03:00:02.000Z' }],
  [{ started_at: '+275000-01-01T00:00:00.000Z' }],
  [{ previous: '../../x' }],
  [{ datasets: [] }],
  [{ datasets: ['voters', 'voters'] }],
  [{ partitions: [] }],
  [{ partitions: [1101] }],
  [{ page_size: 0 }],
  [{ strict: 'yes' }],
  [{ project: undefined }],
  [{ project: { ...described.project, pipelines: [] } }],
  [{ project: { ...described.project, secret: 'x' } }],
])('refuses run.json with %j', async (change, words = 'run.json') => {
  const folder = await temporaryFolder();
  const text = typeof change === 'string' ? change : JSON.stringify({ ...described, ...change });
  await writeFile(join(folder, runFile), text);
  await expect(readRunFile(folder)).rejects.toMatchObject({ code: 'landing', message: expect.stringContaining(words) });
});
