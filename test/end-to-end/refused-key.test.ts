/** A key that the source does not accept ends a sync at once and by name; a listing that is forbidden alone does not. */

import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { runHere } from '../support/run-here.ts';
import { smallNation } from '../support/served-source.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startTwistedSource } from '../support/twisted-source.ts';

const nation = smallNation({ 1101: 3, 1102: 4 });
const refuse = (status: number, response: ServerResponse): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end('{"detail":"not allowed"}');
};
const allow = (honest: string, response: ServerResponse): void => {
  response.writeHead(200, { 'content-type': 'application/json' }).end(honest);
};

/** Runs a command line against a source; it knows 84 partitions from the reference. */
async function run(words: readonly string[], url: string) {
  const result = await runHere([...words, '--base-url', url], { REKAP_API_KEY: 'a-key-of-a-client' });
  return { ...result, error: JSON.parse(result.stdout) as { error: { code: string; next: string } } };
}

describe('a source that answers every request with', () => {
  it.each([
    [401, '8'],
    [403, '8'],
    [403, '32'],
  ])('%i ends the sync after a few requests, at a concurrency of %s', async (status, concurrency) => {
    const server = await startTwistedSource(nation, (response) => refuse(status, response));
    const words = ['sync', '--json', '--concurrency', concurrency, '--warehouse', await temporaryFolder()];
    const { code, error } = await run(words, server.url);
    expect(code).toBe(4);
    expect(error.error).toMatchObject({ code: 'source-refused-key', next: expect.stringContaining('REKAP_API_KEY') });
    expect(server.paths.length).toBeLessThanOrEqual(12);
  });

  it('403 is named the same way by doctor', async () => {
    const server = await startTwistedSource(nation, (response) => refuse(403, response));
    const result = await runHere(['doctor', '--base-url', server.url, '--warehouse', await temporaryFolder()], {
      REKAP_API_KEY: 'a-key-of-a-client',
    });
    expect(result.code).not.toBe(0);
    expect(result.stdout.replaceAll(/\s+/g, ' ')).toContain('REKAP_API_KEY');
  });
});

describe('a source that forbids', () => {
  it('its listing alone is read partition by partition', async () => {
    const server = await startTwistedSource(nation, (response, honest, request) =>
      request.url!.includes('id_dapil') ? allow(honest, response) : refuse(403, response),
    );
    const words = ['sync', '--json', '--dry-run', '--warehouse', await temporaryFolder()];
    expect((await run(words, server.url)).code).toBe(0);
    const doctor = ['doctor', '--base-url', server.url, '--warehouse', await temporaryFolder()];
    const { stdout } = await runHere(doctor, { REKAP_API_KEY: 'a-key-of-a-client' });
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('refuses the full listing');
    expect(stdout).toContain('partition');
  });

  it('one of its datasets says that the key was accepted for the other', async () => {
    const server = await startTwistedSource(nation, (response, honest, request) =>
      request.url!.includes('datapemilihdpr') ? allow(honest, response) : refuse(403, response),
    );
    const words = ['sync', '--json', '--concurrency', '1', '--warehouse', await temporaryFolder()];
    const { error } = await run(words, server.url);
    expect(error.error).toMatchObject({
      code: 'source-refused-key',
      message: expect.stringContaining('accepted the API key for other requests'),
    });
  });
});
