/** Secrets come from variables that the project names, and no command that a sync starts gets them. */

import { afterEach, expect, it, vi } from 'vitest';
import { readApiKey } from '../../src/cli/options/api-key.ts';
import { project } from '../support/sync-settings.ts';

const auth = { header: 'x-api-key', variable: 'MY_KEY' };
const pipelines = project.pipelines.map((pipeline) => ({ ...pipeline, headers: { 'x-app': { variable: 'MY_APP' } } }));

afterEach(() => vi.unstubAllEnvs());

it('are read, and removed from the environment', async () => {
  vi.stubEnv('MY_KEY', 'a-key-of-the-project');
  vi.stubEnv('MY_APP', 'Token another-secret');
  const key = await readApiKey(undefined, auth, pipelines);
  expect(key.reveal()).toBe('a-key-of-the-project');
  expect(key.variables).toEqual({ MY_APP: 'Token another-secret' });
  expect(key.redact('another-secret, a-key-of-the-project')).toBe('[redacted], [redacted]');
  expect(process.env).not.toHaveProperty('MY_KEY');
  expect(process.env).not.toHaveProperty('MY_APP');
});

it('are named if they are missing, or not the value of a header', async () => {
  vi.stubEnv('MY_KEY', 'a-key-of-the-project');
  await expect(readApiKey(undefined, auth, pipelines)).rejects.toThrow('MY_APP is not set');
  vi.stubEnv('MY_APP', 'two\nlines');
  await expect(readApiKey(undefined, auth, pipelines)).rejects.toThrow('MY_APP is not the value of a header');
});
