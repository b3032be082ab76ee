/** What a run that was broken off has landed is a page only where it is a whole one; for all else the source is asked. */

import { describe, expect, it } from 'vitest';
import { voters } from '../../../pipelines/voters.ts';
import { isRekapError, RekapError } from '../../../src/errors.ts';
import { AnswerReader } from '../../../src/extract/ask/answer-reader.ts';
import { landedPages } from '../../../src/extract/ask/landed-pages.ts';
import { SourceHealth } from '../../../src/extract/ask/source-health.ts';
import { Secret } from '../../../src/secret.ts';
import type { Answer } from '../../../src/stages.ts';
import { key, request, whole } from './client-fixture.ts';

const at = new Date('2026-11-20T03:00:00Z');
const url = 'http://source/page';
const wholeAnswer: Answer = { request, url, status: 200, at, body: Buffer.from(JSON.stringify(whole)) };

/** Recalls the page that was landed as `answer`, or cannot be read, and looks at it; with what was landed for this run. */
async function recall(answer: Answer | RekapError | null) {
  const landed: Answer[] = [];
  const warnings: string[] = [];
  const answerTo = async () => {
    if (isRekapError(answer, 'landing')) throw answer;
    return answer;
  };
  const run = { has: () => true, answerTo };
  const reader = new AnswerReader({
    apiKey: new Secret(key),
    health: new SourceHealth(),
    warn: (_, message) => warnings.push(message),
    async land(landing) {
      landed.push(landing);
      return { answer: 0, read: async () => landing.body };
    },
  });
  const pages = landedPages(run, reader, (message) => warnings.push(message));
  const seen = await pages.recallPage(voters, request, false);
  expect(landed).toEqual([]);
  const recalled = await pages.recallPage(voters, request, true);
  return { recalled, seen, landed, warnings };
}

describe('a landed page', () => {
  it('that is whole is taken, with its own time, and landed for this run too', async () => {
    const { recalled, seen, landed } = await recall(wholeAnswer);
    expect(recalled).toMatchObject({ at, page: { request, records: { length: 1 } } });
    expect(seen).toMatchObject({ at, page: { request, records: { length: 1 } } });
    expect(landed).toEqual([wholeAnswer]);
  });

  it.each([
    ['a server error, whatever its body', { ...wholeAnswer, status: 500 }],
    ['a refusal', { ...wholeAnswer, status: 404 }],
    ['a page of HTML', { ...wholeAnswer, body: Buffer.from('<html>busy</html>') }],
    ['half an answer', { ...wholeAnswer, body: wholeAnswer.body.subarray(0, -3) }],
    ['nothing', null],
  ])('that was %s is none, and goes into no landing', async (_, answer) => {
    const { recalled, seen, landed, warnings } = await recall(answer);
    expect({ recalled, seen, landed, warnings }).toEqual({ recalled: null, seen: null, landed: [], warnings: [] });
  });

  it('that does not fit its hash is none, and that is said', async () => {
    const { recalled, seen, landed, warnings } = await recall(new RekapError('landing', 'bodies.gz is damaged.', ''));
    expect({ recalled, seen, landed }).toEqual({ recalled: null, seen: null, landed: [] });
    expect(warnings).toContainEqual(expect.stringContaining('asked for again: bodies.gz is damaged.'));
  });
});
