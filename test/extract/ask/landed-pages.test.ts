/** What a run that was broken off has landed is a page only where it is a whole one; for all else the source is asked. */

import { describe, expect, it } from 'vitest';
import { voters } from '../../../pipelines/voters.ts';
import { LandingError } from '../../../src/errors.ts';
import { AnswerReader } from '../../../src/extract/ask/answer-reader.ts';
import { landedPages } from '../../../src/extract/ask/landed-pages.ts';
import { SourceHealth } from '../../../src/extract/ask/source-health.ts';
import { Secret } from '../../../src/secret.ts';
import type { Answer } from '../../../src/stages.ts';
import { key, request, whole } from './client-fixture.ts';

const at = new Date('2026-11-20T03:00:00Z');
const url = 'http://source/page';
const wholeAnswer: Answer = { request, url, status: 200, at, body: Buffer.from(JSON.stringify(whole)) };

/** Recalls and peeks at the page that was landed as `answer`, or cannot be read; with what was landed for this run. */
async function recall(answer: Answer | LandingError | null) {
  const landed: Answer[] = [];
  const warnings: string[] = [];
  const answerTo = async () => {
    if (answer instanceof LandingError) throw answer;
    return answer;
  };
  const run = { has: () => true, answerTo };
  const reader = new AnswerReader({
    apiKey: new Secret(key),
    health: new SourceHealth(),
    warn: (_, message) => warnings.push(message),
    async land(landing) {
      landed.push(landing);
      return async () => landing.body;
    },
  });
  const resumed = { ...run, keep: async (_: string, passes: (given: typeof run) => Promise<boolean>) => passes(run) };
  const pages = landedPages(resumed, reader, (message) => warnings.push(message));
  const recalled = await pages.recallPage(voters, request);
  const peeked = await pages.keepLanded(voters, async (peek) => (await peek(request)) !== null);
  return { recalled, peeked, landed, warnings };
}

describe('a landed page', () => {
  it('that is whole is taken, with its own time, and landed for this run too', async () => {
    const { recalled, peeked, landed } = await recall(wholeAnswer);
    expect(recalled).toMatchObject({ at, page: { request, records: { length: 1 } } });
    expect(peeked).toBe(true);
    expect(landed).toEqual([wholeAnswer]);
  });

  it.each([
    ['a server error, whatever its body', { ...wholeAnswer, status: 500 }],
    ['a refusal', { ...wholeAnswer, status: 404 }],
    ['a page of HTML', { ...wholeAnswer, body: Buffer.from('<html>busy</html>') }],
    ['half an answer', { ...wholeAnswer, body: wholeAnswer.body.subarray(0, -3) }],
    ['nothing', null],
  ])('that was %s is none, and goes into no landing', async (_, answer) => {
    const { recalled, peeked, landed, warnings } = await recall(answer);
    expect({ recalled, peeked, landed, warnings }).toEqual({ recalled: null, peeked: false, landed: [], warnings: [] });
  });

  it('that does not fit its hash is none, and that is said', async () => {
    const { recalled, peeked, landed, warnings } = await recall(new LandingError('bodies.gz is damaged.', ''));
    expect({ recalled, peeked, landed }).toEqual({ recalled: null, peeked: false, landed: [] });
    expect(warnings).toContainEqual(expect.stringContaining('asked for again: bodies.gz is damaged.'));
  });
});
