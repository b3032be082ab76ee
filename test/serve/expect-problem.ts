/** Expects an answer to be a problem document (RFC 9457) that gives nothing away. */

import { expect } from 'vitest';
import { key, type RawAnswer } from './support.ts';

interface Problem {
  readonly status: number;
  readonly detail: string;
  readonly parameter?: string;
}

/** Checks the shape that all problems share, and that the key is not in them. */
function checkProblem(type: string | null | undefined, status: number, body: string): Problem {
  expect(type).toMatch(/^application\/problem\+json\b/);
  expect(body).not.toContain(key);
  const problem = JSON.parse(body) as Problem & Record<string, unknown>;
  expect(problem).toMatchObject({ type: 'about:blank', title: expect.any(String), status, detail: expect.any(String) });
  expect(
    Object.keys(problem).every((name) => ['type', 'title', 'status', 'detail', 'instance', 'parameter'].includes(name)),
  ).toBe(true);
  return problem;
}

/** An answer of fetch is this problem, about this path. */
export async function expectProblem(response: Response, status: number, instance: string): Promise<Problem> {
  expect(response.status).toBe(status);
  expect(response.headers.get('cache-control')).toBe('no-store');
  const problem = checkProblem(response.headers.get('content-type'), status, await response.text());
  expect(problem).toHaveProperty('instance', instance);
  return problem;
}

/** Bytes from a socket are this problem. */
export function expectRawProblem(answer: RawAnswer | null, status: number): Problem {
  expect(answer?.status).toBe(status);
  return checkProblem(answer?.headers.get('content-type'), status, answer?.body ?? '');
}
