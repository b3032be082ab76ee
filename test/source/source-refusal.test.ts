/** The client over real sockets: what it refuses and how it says so, what ends it, and that it shows no key. */

import { createServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { voters } from '../support/bundled.ts';
import { interruptedBy, RekapError } from '../../src/errors.ts';
import { asking } from '../support/asked.ts';
import { answerJson, type Script } from '../support/fault-server.ts';
import { connect, key, record, request, serve, startServer, whole } from './client-fixture.ts';

describe('a refusal', () => {
  it.each([401, 403])('of the key (%i) stops everything at once and says what to do', async (status) => {
    const { server, failure } = await serve((_, response) =>
      answerJson(response, { detail: `no such key ${key}` }, status),
    );
    const error = await failure();
    expect(error).toMatchObject({ code: 'source-refused-key' });
    expect(error).toMatchObject({ exitCode: 4, next: expect.stringContaining('REKAP_API_KEY') });
    expect(await failure(asking(request, { offset: 10 }))).toBe(error);
    expect(server.paths).toHaveLength(1);
  });

  it('of the key that was accepted before does not ask for another', async () => {
    let answers = 0;
    const { failure } = await serve((_, response) => answerJson(response, whole, answers++ === 0 ? 200 : 403));
    await failure().catch(() => null);
    const error = await failure(asking(request, { offset: 1 }));
    expect(error).toMatchObject({ code: 'source-refused-key' });
    expect(error).toMatchObject({ next: expect.stringContaining('accepted the key for other requests') });
  });

  it.each<[string, string, number | undefined]>([
    ['an array', '[1,2]', undefined],
    ['a count without data', '{"count":3}', undefined],
    ['data that is a text', '{"count":1,"data":"none"}', undefined],
    ['something after the envelope', '{"count":0,"data":[]} {}', undefined],
  ])('of %s names the URL and shows how it begins', async (_name, body) => {
    const { server, failure } = await serve((_, response) => response.writeHead(200).end(body));
    const error = await failure();
    expect(error).toMatchObject({ code: 'envelope' });
    expect(error.message).toContain(server.url);
    expect(error.message).toContain(body.slice(0, 12));
    expect(server.paths).toHaveLength(1);
  });

  it('of what is no envelope comes at once from a source that has given none, and else after some patience', async () => {
    const other = '{"message":"Just a moment"}';
    const answersFor = async (asked: readonly boolean[]) => {
      let turn = 0;
      const { server, failure } = await serve((_, response) => {
        const isWhole = asked[turn] ?? true;
        turn += 1;
        if (isWhole) answerJson(response, whole);
        else response.writeHead(200).end(other);
      });
      const errors = [
        await failure().catch(() => null),
        await failure(asking(request, { offset: 1 })).catch(() => null),
      ];
      return { errors, asked: server.paths.length };
    };
    const slip = await answersFor([true, false, false, true]);
    expect(slip).toEqual({ errors: [null, null], asked: 4 });
    const stays = await answersFor([true, false, false, false]);
    expect(stays.errors[1]).toMatchObject({ code: 'envelope' });
    expect(stays.asked).toBe(4);
  });

  it.each([
    ['<html><body>Maintenance</body></html>', 'HTML'],
    ['\n\n<!doctype html><title>Log in', 'HTML'],
    ['Service under maintenance', 'other content'],
  ])(
    'of %j comes as late as that of a 503, from a source that has given a page and from one that has not',
    async (body, said) => {
      const { server, failure } = await serve((asked, response) =>
        asked.url!.includes('offset=0') ? answerJson(response, whole) : response.writeHead(200).end(body),
      );
      const first = await serve((_, response) => response.writeHead(200).end(body));
      const error = await first.failure();
      expect(error).toMatchObject({ code: 'envelope' });
      expect(error.message).toContain(first.server.url);
      expect(error.message).toContain(`returned ${said}`);
      expect(error.message).toContain(body.trim());
      expect(first.server.paths).toHaveLength(6);
      await failure().catch(() => null);
      expect(await failure(asking(request, { offset: 1 }))).toMatchObject({ code: 'envelope' });
      expect(server.paths).toHaveLength(7);
    },
  );

  it('of gzip that no header announces comes at once and says so', async () => {
    const { server, failure } = await serve((_, response) =>
      response.writeHead(200).end(gzipSync(JSON.stringify(whole))),
    );
    const error = await failure();
    expect(error).toMatchObject({ code: 'envelope' });
    expect(error.message).toMatch(/gzip, but its content-encoding does not say so\.$/);
    expect(server.paths).toHaveLength(1);
  });

  it.each([
    [
      'to the same endpoint elsewhere',
      'https://other.example/base/api/datapemilihdpr/?x=1',
      'set --base-url to https://other.example/base',
    ],
    ['to a page of its own', '/login?next=x', '/login, and rekap does not follow redirects'],
  ])('of a redirect %s says what can be done', async (_where, location, said) => {
    const { failure } = await serve((_, response) => response.writeHead(308, { location }).end());
    const { message } = await failure();
    expect(message).toContain(said);
    expect(message.includes('--base-url')).toBe(said.includes('--base-url'));
  });

  it('of status 304 speaks of no redirect', async () => {
    const { failure } = await serve((_, response) => response.writeHead(304).end());
    expect((await failure()).message).not.toContain('redirect');
  });

  it('of an answer over the bound, also when it is small on the wire', async () => {
    const huge = JSON.stringify({ count: 1, data: { ...record, NamaDapil: 'A'.repeat(2_000_000) } });
    const { server, failure } = await serve((_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(huge)),
    );
    expect(await failure()).toMatchObject({ code: 'response-too-large' });
    expect(server.paths).toHaveLength(1);
    expect(await failure(asking(request, { offset: 1 }))).toMatchObject({ code: 'response-too-large' });
    // Each such answer costs both sides much, and none has come yet that can be read.
    expect((await failure(asking(request, { offset: 2 }))).message).toContain('stopped sending requests');
    expect(server.paths).toHaveLength(2);
  });

  it.each(['gzip', 'br', 'gzip, br'])(
    'counts by its status where its body is not the %s that it says',
    async (encoding) => {
      const mislabelled: Script = (_, response, attempt) => {
        const status = [401, 404, 429][attempt - 1] ?? 200;
        const headers = { 'content-encoding': encoding, 'retry-after': '7' };
        if (status === 200) answerJson(response, whole);
        else response.writeHead(status, headers).end(status === 404 ? '' : 'plain');
      };
      const { failure, client } = await serve(mislabelled);
      expect(await failure()).toMatchObject({ code: 'source-refused-key' });
      const other = await serve((asked, response, attempt) => mislabelled(asked, response, attempt + 1));
      expect((await other.client.fetchPage(voters, request)).refusal).toMatchObject({ status: 404 });
      await other.client.fetchPage(voters, request);
      expect(other.clock.sleeps).toEqual([7050]);
      expect(client.figures.requests).toBe(1);
    },
  );

  it('of a page that is not encoded as it says names that, not the network', async () => {
    const { failure } = await serve((_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(JSON.stringify(whole)),
    );
    const error = await failure();
    expect(error).toMatchObject({ code: 'envelope' });
    expect(error.message).toMatch(/does not match its content-encoding: .* \(given up after 6 attempts\)\.$/);
  });

  it('of an answer behind "100 Continue" names that, not the network', async () => {
    const { failure } = await serve((_, response) => {
      response.writeContinue();
      answerJson(response, whole);
    });
    const error = await failure();
    expect(error).toMatchObject({ code: 'envelope' });
    expect(error.message).toContain('sends "100 Continue" before its response');
  });

  it('of a redirect does not follow it with the key', async () => {
    const other = await startServer((_, response) => answerJson(response, whole));
    const { failure } = await serve((_, response) =>
      response.writeHead(302, { location: `${other.url}/elsewhere?x=1` }).end(),
    );
    const error = await failure();
    expect(error.message).toContain(`${other.url}/elsewhere`);
    expect(other.paths).toEqual([]);
  });

  it('of a host where nothing listens comes soon and says so', async () => {
    const closed = createServer();
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
    const { port } = closed.address() as { port: number };
    await new Promise<void>((resolve) => closed.close(() => resolve()));
    const { failure, clock } = connect(`http://127.0.0.1:${port}`);
    const error = await failure();
    expect(error).toMatchObject({ code: 'source-unreachable' });
    expect(error.message).toContain('the connection was refused');
    expect(clock.sleeps.reduce((sum, sleep) => sum + sleep, 0)).toBeLessThan(5000);
  });

  it('of an https address that speaks http says so', async () => {
    const { server } = await serve((_, response) => answerJson(response, whole));
    const { failure } = connect(server.url.replace('http:', 'https:'), { maxAttempts: 1 });
    const error = await failure();
    expect(error).toMatchObject({ code: 'source-unreachable' });
    expect(error.message).toContain('the server does not use TLS; its address may start with http://');
  });

  it.each([400, 403])('that may be (%i) says nothing of the source, however often it comes', async (status) => {
    const { server, client } = await serve((_, response) => answerJson(response, {}, status));
    for (let offset = 1; offset <= 8; offset += 1) {
      const asked = client.fetchPage(voters, asking(request, { offset }), { mayRefuse: true });
      await expect(asked).rejects.toThrow(`${status}`);
    }
    expect(server.paths).toHaveLength(8);
  });

  it('comes for every request once the source has stopped answering', async () => {
    const { server, failure } = await serve((asked) => asked.socket.destroy(), { maxAttempts: 2 });
    for (let offset = 0; offset < 5; offset += 1) await failure(asking(request, { offset }));
    const asked = server.paths.length;
    expect((await failure(asking(request, { offset: 99 }))).message).toContain('stopped sending requests for voters');
    expect(server.paths).toHaveLength(asked);
  });
});

describe('the run', () => {
  it('ends with the reason of its signal while a request is in flight', async () => {
    let arrived = (): void => {};
    const inFlight = new Promise<void>((resolve) => (arrived = resolve));
    const { failure, controller } = await serve(() => arrived());
    const fetching = failure();
    await inFlight;
    controller.abort(interruptedBy('SIGTERM'));
    expect(await fetching).toMatchObject({ code: 'interrupted' });
  });

  it('ends where an answer cannot be kept', async () => {
    const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    const { server, failure } = await serve((_, response) => answerJson(response, whole), {
      concurrency: 1,
      maxAttempts: 3,
      land: () => Promise.reject(full),
    });
    expect(await failure()).toBe(full);
    expect(await failure()).toBe(full);
    expect(server.paths).toHaveLength(1);
  });

  it('never shows a key that the source echoes', async () => {
    const { client, landed, events } = await serve((_, response) =>
      answerJson(response, { count: 1, data: { ...record, NamaDapil: key } }),
    );
    const { page } = await client.fetchPage(voters, request);
    expect(page.bytes.toString()).not.toContain(key);
    expect(landed[0]!.body.toString()).not.toContain(key);
    expect(events.some((event) => event.kind === 'warning' && event.message.includes('repeats the API key'))).toBe(
      true,
    );
    const { failure } = await serve((_, response) => response.writeHead(200).end(`<html>${key}`));
    const error = await failure();
    expect(error).toBeInstanceOf(RekapError);
    expect(error.message).not.toContain(key);
  });
});
