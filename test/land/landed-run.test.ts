/** A landing is read back as it was written, or refused by name: whatever was done to its files, no answer is ever a wrong one. */

import fc from 'fast-check';
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { isRekapError } from '../../src/errors.ts';
import { type LandedResponse, type RunFile, responsesFile, bodiesFile, runFile } from '../../src/land/formats.ts';
import { openLandedRun, readRunFile } from '../../src/land/landed-run.ts';
import { type LandedRun } from '../../src/land/landed-run.ts';
import { openLanding } from '../../src/land/landing.ts';
import type { AnyPipeline } from '../../src/project/declaration.ts';
import type { SourceResponse, PageRequest } from '../../src/stages.ts';
import { type OutgoingRequest, requestOf as requestTo } from '../support/asked.ts';
import { voters, votingRightsUsers } from '../support/bundled.ts';
import { describedRun } from '../support/landed.ts';
import { holds } from '../support/properties.ts';

const described = describedRun({ partitions: ['1101'] });
const requestOf = (asked: Partial<OutgoingRequest> = {}, pipeline: AnyPipeline = voters): PageRequest =>
  requestTo(pipeline, { partition: '1101', limit: 10, ...asked });
/** As the source client lands it: the URL is the base URL with what was asked for. */
const answerOf = (body: string, { request = requestOf(), ...rest }: Partial<SourceResponse> = {}): SourceResponse => ({
  request,
  url: described.base_url + request.target,
  status: 200,
  at: new Date('2026-11-20T03:00:02.500Z'),
  body: Buffer.from(body),
  ...rest,
});

/** A landing of these answers in a folder of its own. */
async function landed(answers: readonly SourceResponse[]): Promise<string> {
  const folder = join(await mkdtemp(join(tmpdir(), 'rekap-landed-')), 'run');
  onTestFinished(() => rm(join(folder, '..'), { recursive: true, force: true }));
  const landing = await openLanding(folder, described);
  for (const answer of answers) await landing.land(answer);
  await landing.close();
  return folder;
}

async function open(folder: string, since: Date | null = null): Promise<LandedRun> {
  const run = await openLandedRun(folder, since);
  onTestFinished(() => run.close());
  return run;
}

describe('a landed run', () => {
  it('answers each request with what its source answered, and no other', async () => {
    const requests = [
      requestOf(),
      requestOf({ partition: null }),
      requestOf({ offset: 10 }),
      requestOf({ limit: 20 }),
      requestOf({}, votingRightsUsers),
      // Lists of two tables may lie at one path.
      { ...requestOf(), dataset: 'others' },
      // A next page may be at another host.
      { ...requestOf(), target: 'http://elsewhere.test/api?after=1' },
    ];
    const answers = requests.map((request, place) =>
      answerOf(`body ${place}`, {
        request,
        status: 200 + place,
        at: new Date(place),
        url: new URL(request.target, described.base_url).href,
      }),
    );
    const run = await open(await landed(answers));
    expect(run.size).toBe(answers.length);
    expect(run.file).toEqual(described);
    for (const answer of answers) {
      expect(run.has(answer.request)).toBe(true);
      expect(await run.responseTo(answer.request)).toEqual(answer);
    }
    for (const missing of [{ offset: 1 }, { limit: 1 }, { partition: '1102' }, { partition: null, offset: 1 }]) {
      expect(run.has(requestOf(missing))).toBe(false);
      expect(await run.responseTo(requestOf(missing))).toBeNull();
    }
  });

  it('answers with the last of several answers to one request', async () => {
    const run = await open(await landed([answerOf('busy', { status: 503 }), answerOf('whole')]));
    expect((await run.responseTo(requestOf()))?.body.toString()).toBe('whole');
  });

  it('lets no failure stand in for a page that came before it', async () => {
    const run = await open(await landed([answerOf('whole'), answerOf('busy', { status: 503 })]));
    expect((await run.responseTo(requestOf()))?.body.toString()).toBe('whole');
  });

  it('gives each answer by its number, and refuses a number that it has not', async () => {
    const run = await open(await landed([answerOf('first'), answerOf('second')]));
    expect((await run.response(1)).body.toString()).toBe('second');
    await expect(run.response(2)).rejects.toThrow(/has no line 3/);
  });

  it('leaves out what is older than it is asked for', async () => {
    const at = (second: number): Date => new Date(Date.UTC(2026, 10, 20, 3, 0, second));
    const answers = [1, 2, 3].map((offset) => answerOf('', { request: requestOf({ offset }), at: at(offset) }));
    const run = await open(await landed(answers), at(2));
    expect([1, 2, 3].map((offset) => run.has(requestOf({ offset })))).toEqual([false, true, true]);
  });

  it('passes over a last line that was never finished, and over no other', async () => {
    const folder = await landed([answerOf('whole')]);
    const file = join(folder, responsesFile);
    const line = await readFile(file, 'utf8');
    await appendFile(file, line.slice(0, -20));
    expect((await open(folder)).size).toBe(1);
    await appendFile(file, '\n');
    await expect(open(folder)).rejects.toThrow(/^Line 2 of .*answers\.jsonl is damaged/);
  });

  it.each([bodiesFile, responsesFile, runFile])('without %s is refused', async (name) => {
    const folder = await landed([answerOf('whole')]);
    await rm(join(folder, name));
    await expect(open(folder)).rejects.toThrow(expect.objectContaining({ code: 'landing' }));
    await expect(open(folder)).rejects.toThrow(name);
  });
});

describe('whatever stands in its files', () => {
  let folder: string;
  let line: Record<string, unknown>;
  beforeAll(async () => {
    folder = join(await mkdtemp(join(tmpdir(), 'rekap-landed-')), 'run');
    const landing = await openLanding(folder, described);
    await landing.land(answerOf('whole'));
    await landing.close();
    line = JSON.parse(await readFile(join(folder, responsesFile), 'utf8')) as Record<string, unknown>;
  });
  afterAll(() => rm(join(folder, '..'), { recursive: true, force: true }));

  const wrong = fc.oneof(
    fc.constantFrom<unknown>(undefined, null, -1, 0, 1.5, 2 ** 53, '', 'x', true, [], {}, [1], ['x'], [null]),
    fc.jsonValue({ maxDepth: 1 }),
  );
  /** The members of an object with one or two of them left out or replaced. */
  const changed = (members: () => object) =>
    fc.array(fc.tuple(fc.nat(), wrong), { maxLength: 2 }).map((changes) => {
      const entries = Object.entries(members());
      const replaced = new Map<string, unknown>(entries);
      for (const [choice, value] of changes) replaced.set(entries[choice % entries.length]![0], value);
      return JSON.stringify(Object.fromEntries(replaced));
    });

  holds(
    'a line is an answer with the body that it names, or the landing is refused',
    fc.asyncProperty(fc.oneof({ weight: 5, arbitrary: changed(() => line) }, fc.json()), async (text) => {
      await writeFile(join(folder, responsesFile), `${text.replaceAll('\n', ' ')}\n`);
      const run = await orRefused(openLandedRun(folder, null));
      if (run === null) return;
      const { dataset, partition, url, at } = JSON.parse(text) as LandedResponse;
      const target = url.startsWith(`${described.base_url}/`) ? url.slice(described.base_url.length) : url;
      expect(run.has({ dataset, partition, target })).toBe(true);
      const answer = await orRefused(run.responseTo({ dataset, partition, target }));
      await run.close();
      if (answer === null) return;
      expect(answer.body.toString()).toBe('whole');
      expect(answer.at.getTime()).toBe(Date.parse(at));
    }),
    { runs: 200 },
  );

  holds(
    'the description of a run has all that a replay asks of it, or is refused',
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
    { runs: 300 },
  );
});

/** What comes, or null where it is refused by name; any other failure is a fault. */
async function orRefused<Value>(come: Promise<Value>): Promise<Value | null> {
  try {
    return await come;
  } catch (error) {
    if (isRekapError(error, 'landing')) return null;
    throw error;
  }
}

describe('the description of a run', () => {
  it('by an older release is refused as such', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'rekap-landed-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    await writeFile(join(folder, runFile), JSON.stringify({ ...described, format: 1 }));
    await expect(readRunFile(folder)).rejects.toThrow(/older release/);
  });

  it.each<Partial<Record<keyof RunFile, unknown>>>([
    { format: 4 },
    { run: 5 },
    { source: null },
    { base_url: 'nowhere' },
    { started_at: 'yesterday' },
    { previous: 5 },
    { datasets: 'voters' },
    { datasets: [5] },
    { partitions: [1.5] },
    { partitions: [1101] },
    { partitions: {} },
    { page_size: -1 },
    { project: null },
    { project: { ...described.project, pipelines: {} } },
    { project: { ...described.project, secret: 'x' } },
  ])('is refused with %j', async (rest) => {
    const folder = await mkdtemp(join(tmpdir(), 'rekap-landed-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    await writeFile(join(folder, runFile), JSON.stringify({ ...described, ...rest }));
    await expect(readRunFile(folder)).rejects.toThrow(/run\.json does not describe a run/);
  });
});
