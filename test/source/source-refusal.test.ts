/** The client over real sockets: what it refuses, what stops it, and that it never shows the key. */

import { createServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { readText } from '../../src/kinds/read-field.ts';
import { voters } from '../support/bundled.ts';
import { interruptedBy, RekapError } from '../../src/errors.ts';
import type { AnyPipeline } from '../../src/project/declaration.ts';
import { withParameters } from '../support/page-request.ts';
import { answerJson, type Script } from '../support/fault-server.ts';
import { connect, key, record, request, serve, startServer, whole } from './client-fixture.ts';

const send =
  (body: string | Buffer, status = 200, headers: Record<string, string> = {}): Script =>
  (_, response) =>
    void response.writeHead(status, headers).end(body);
const wholeScript: Script = (_, response) => answerJson(response, whole);
const at = (offset: number) => withParameters(request, { offset });

describe('the key', () => {
  it.each([401, 403])('refused with %i stops all requests', async (status) => {
    const { server, failure } = await serve(send(`no such key ${key}`, status));
    const error = await failure();
    expect(error).toMatchObject({ code: 'source-refused-key', exitCode: 4 });
    expect(error).toMatchObject({ next: expect.stringContaining('REKAP_API_KEY') });
    expect(await failure(at(10))).toBe(error);
    expect(server.paths).toHaveLength(1);
  });

  it('refused after it was accepted is reported as such', async () => {
    const { client, failure } = await serve((sent, response) =>
      answerJson(response, whole, sent.url!.includes('offset=1') ? 403 : 200),
    );
    await client.fetchPage(voters, request);
    const message = expect.stringContaining('accepted the API key for other requests');
    expect(await failure(at(1))).toMatchObject({ code: 'source-refused-key', message });
  });

  it('never shows in a response that repeats it, or in an error', async () => {
    const { client, landed, events } = await serve(
      send(JSON.stringify({ count: 1, data: { ...record, NamaDapil: key } })),
    );
    const { page } = await client.fetchPage(voters, request);
    expect(page.bytes.toString() + landed[0]!.body.toString()).not.toContain(key);
    const warnings = events.flatMap((event) => (event.kind === 'warning' ? event.message : []));
    expect(warnings).toContainEqual(expect.stringContaining('repeats the API key'));
    const error = await (await serve(send(`<html>${key}`))).failure();
    expect(error).toBeInstanceOf(RekapError);
    expect(error.message).not.toContain(key);
  });

  it('is not sent along a redirect', async () => {
    const other = await startServer(wholeScript);
    const { failure } = await serve(send('', 302, { location: `${other.url}/elsewhere?x=1` }));
    expect((await failure()).message).toContain(`${other.url}/elsewhere`);
    expect(other.paths).toEqual([]);
  });
});

describe('the key in the address of the next page', () => {
  const linked: AnyPipeline = { ...voters, paging: { by: 'next', url: '/next' } };
  const fetchNext = async (next: string) => {
    const { client, landed } = await serve(
      send(JSON.stringify({ ...whole, next }), 200, { link: `<${next}>; rel=next` }),
      {
        keyParameter: 'api_key',
      },
    );
    const { page, link } = await client.fetchPage(linked, request);
    expect(link).toBe(page.next);
    expect(landed[0]!.body.toString()).not.toContain(key);
    return page.next;
  };

  it.each([
    [`/list?api_key=${key}&page=2`, '/list?page=2'],
    [`/list?page=2&api_key=${key}`, '/list?page=2'],
    ['/list?api_key=[redacted]&page=2', '/list?page=2'],
    [`/list?token=${key}&q=a%20b&cursor=a+b/c==`, '/list?q=a%20b&cursor=a+b/c=='],
    [`/list?api_key=${key}`, '/list'],
    ['/list?page=2', '/list?page=2'],
  ])('is removed from %s', async (next, clean) => {
    expect(await fetchNext(next)).toBe(clean);
  });

  it('is refused outside the query', async () => {
    const { client } = await serve(send(JSON.stringify({ ...whole, next: `/${key}/list?page=2` })));
    await expect(client.fetchPage(linked, request)).rejects.toMatchObject({ code: 'unprovable-source' });
  });
});

describe('a rate limit with status 403', () => {
  const reset = (seconds: number) => String(Math.floor(Date.parse('2026-11-20T03:00:00Z') / 1000) + seconds);

  it.each<[string, Record<string, string>, number]>([
    ['Retry-After', { 'retry-after': '30' }, 30_000],
    [
      'a used-up quota that is reset at a time',
      { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset(40) },
      40_000,
    ],
    ['a used-up quota that is reset after a time', { 'ratelimit-remaining': '0', 'ratelimit-reset': '20' }, 20_000],
  ])('is waited for: %s', async (_what, headers, wait) => {
    const { client, clock } = await serve((_, response, attempt) =>
      attempt === 1 ? answerJson(response, {}, 403, headers) : answerJson(response, whole),
    );
    expect((await client.fetchPage(voters, request)).page.records).toHaveLength(1);
    expect(clock.sleeps).toEqual([expect.closeTo(wait, -3)]);
  });

  it('does not end the list, and is not blamed on the key, if it lasts', async () => {
    const { client } = await serve((_, response) => answerJson(response, {}, 403, { 'retry-after': '3600' }));
    const fetched = client.fetchPage(voters, request, { mayRefuse: true });
    await expect(fetched).rejects.toMatchObject({ code: 'source-refused-all' });
  });

  it.each([{ 'x-ratelimit-remaining': '7', 'x-ratelimit-reset': reset(40) }, {}])(
    'is the refusal of the key without a sign of a limit: %j',
    async (headers) => {
      const { failure } = await serve((_, response) => answerJson(response, {}, 403, headers));
      expect(await failure()).toMatchObject({ code: 'source-refused-key' });
    },
  );
});

describe('a failure with status 200', () => {
  it.each([
    { count: 0, data: [], error: 'rate limit exceeded' },
    { count: 0, data: null, errors: [{ message: 'timeout' }] },
    { count: 0, data: [], success: false },
    { count: 0, data: null, status: 'error' },
    { ...whole, incomplete_results: true },
    { ...whole, _shards: { failed: 1 } },
  ])('is retried, and no end of a list: %j', async (body) => {
    const { failure } = await serve((_, response) => answerJson(response, body));
    expect(await failure()).toMatchObject({
      code: 'envelope',
      message: expect.stringContaining('says that it failed'),
    });
    const recovered = await serve((_, response, attempt) => answerJson(response, attempt === 1 ? body : whole));
    expect((await recovered.client.fetchPage(voters, request)).page.records).toHaveLength(1);
  });

  it.each([
    { ...whole, error: 'a note' },
    { count: 0, data: [], error: null, success: true, status: 'ok', errorCode: 0 },
  ])('is not seen in %j', async (body) => {
    const { client } = await serve((_, response) => answerJson(response, body));
    expect((await client.fetchPage(voters, request)).refusal).toBeNull();
  });
});

const zip = gzipSync(JSON.stringify(whole));

describe('a response', () => {
  it.each<[string, Script, string[], number]>([
    ['an array', send('[1,2]'), ['[1,2]'], 1],
    ['a count without data', send('{"count":3}'), ['{"count":3}'], 1],
    ['text after the envelope', send('{"count":0,"data":[]} {}'), ['at byte 22'], 1],
    ['a file of gzip that is cut', send(zip.subarray(0, 30)), ['does not match'], 6],
    ['not what its header says', send('{}', 200, { 'content-encoding': 'gzip' }), ['does not match'], 6],
  ])('is refused as %s', async (_name, script, words, requests) => {
    const { server, failure } = await serve(script);
    const error = await failure();
    expect(error).toMatchObject({ code: 'envelope' });
    for (const word of [server.url, ...words]) expect(error.message).toContain(word);
    expect(server.paths).toHaveLength(requests);
  });

  it.each([
    ['{"message":"Just a moment"}', 2, 'page'],
    ['{"message":"Just a moment"}', 9, 'envelope', 3],
    ['<html>Maintenance', 9, 'envelope', 6],
  ])('of %s is retried %i times at most if earlier ones were pages', async (body, times, outcome, requests = 3) => {
    const { server, client, failure } = await serve((sent, response, attempt) =>
      sent.url!.includes('offset=1') && attempt <= times
        ? send(body)(sent, response, attempt)
        : answerJson(response, whole),
    );
    await client.fetchPage(voters, request);
    const end = await (outcome === 'page' ? client.fetchPage(voters, at(1)) : failure(at(1)));
    expect(end).toMatchObject(outcome === 'page' ? { refusal: null } : { code: outcome });
    expect(server.paths.slice(1)).toHaveLength(requests);
  });

  it('is refused above the size limit, even if it is small when compressed', async () => {
    const huge = JSON.stringify({ count: 1, data: { ...record, NamaDapil: 'A'.repeat(2_000_000) } });
    const { server, failure } = await serve(send(gzipSync(huge), 200, { 'content-encoding': 'gzip' }));
    for (const offset of [0, 1]) expect(await failure(at(offset))).toMatchObject({ code: 'response-too-large' });
    // Large responses are expensive for both sides, and none has been readable.
    expect((await failure(at(2))).message).toContain('stopped sending requests');
    expect(server.paths).toHaveLength(2);
  });

  it('is refused with headers above 16 kB', async () => {
    const { failure } = await serve((_, response) => void response.writeHead(200, { x: 'x'.repeat(20_000) }).end('{}'));
    const message = expect.stringContaining('the headers of the response are larger than 16 kB');
    expect(await failure()).toMatchObject({ code: 'source-unreachable', message });
  });

  it.each(['gzip', 'br', 'gzip, br'])('counts by its status if its body is not %s as declared', async (encoding) => {
    const mislabelled =
      (...statuses: readonly number[]): Script =>
      (_, response, attempt) => {
        const status = statuses[attempt - 1];
        if (status === undefined) return answerJson(response, whole);
        const headers = { 'content-encoding': encoding, 'retry-after': '7' };
        response.writeHead(status, headers).end(status === 404 ? '' : 'plain');
      };
    expect(await (await serve(mislabelled(401))).failure()).toMatchObject({ code: 'source-refused-key' });
    const { client, clock } = await serve(mislabelled(404, 429));
    expect((await client.fetchPage(voters, request)).refusal).toMatchObject({ status: 404 });
    await client.fetchPage(voters, request);
    expect(clock.sleeps).toEqual([7050]);
  });
});

describe('the advice about a response', () => {
  const latin1 = Buffer.from(JSON.stringify({ count: 1, data: { ...record, NamaDapil: 'CAFÉ' } }), 'latin1');
  const many = JSON.stringify({ count: 1, data: Array.from({ length: 200_001 }, () => ({})) });
  const cases: [string, string | Buffer, string[], string][] = [
    ['a web page', '\n\n<!doctype html><title>Log in', ['HTML', '<title>Log in'], 'login page'],
    ['other text', 'Service under maintenance', ['other content', 'maintenance'], 'JSON'],
    ['Latin-1', latin1, ['not UTF-8', `byte ${latin1.indexOf(0xc9)} is 0xc9`], 'UTF-8'],
    ['NaN', '{"count":1,"data":[{"Umur":NaN}]}', ['not valid JSON', 'byte 27', 'NaN'], 'valid JSON'],
    ['no member', '{}', ['is missing', '{}'], '`records`'],
    ['other members', '{"message":"Just a moment"}', ['is missing', 'Just a moment'], '`records`'],
    ['too many records', many, ['200000 records'], '--page-size'],
  ];

  it.each(cases)('with %s names the cause', async (name, body, words, next) => {
    const { failure } = await serve(send(body), { maxResponseBytes: 1_000_000 });
    const error = await failure();
    expect(error).toMatchObject({ code: 'envelope', next: expect.stringContaining(next) });
    for (const word of words) expect(error.message).toContain(word);
    expect((error as RekapError).next.includes('login page')).toBe(name === 'a web page');
  });

  it.each(cases)('with %s is the same after pages', async (_name, body, _words, next) => {
    const { client, failure } = await serve(
      (sent, response, attempt) =>
        sent.url!.includes('offset=1') ? send(body)(sent, response, attempt) : answerJson(response, whole),
      { maxResponseBytes: 1_000_000 },
    );
    await client.fetchPage(voters, request);
    expect(await failure(at(1))).toMatchObject({ code: 'envelope', next: expect.stringContaining(next) });
  });

  it('may be a file of gzip, and in the charset that its type names', async () => {
    const pipeline = { ...voters, records: '' };
    const named = JSON.stringify([{ ...record, NamaProvinsi: 'CAFÉ' }]);
    for (const [body, type] of [
      [gzipSync(named), 'application/gzip'],
      [Buffer.from(named, 'latin1'), 'application/json; charset=ISO-8859-1'],
      [Buffer.from(named, 'utf16le'), 'application/json;charset="utf-16le"'],
    ] as const) {
      const { client } = await serve((_, response) => void response.writeHead(200, { 'content-type': type }).end(body));
      const { page } = await client.fetchPage(pipeline, request);
      expect(readText(page, 0, Object.keys(voters.columns).indexOf('province'))).toBe('CAFÉ');
    }
  });
});

describe('an address', () => {
  it('where no server listens is reported soon', async () => {
    const closed = createServer();
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
    const { port } = closed.address() as { port: number };
    await new Promise<void>((resolve) => closed.close(() => resolve()));
    const { failure, clock } = connect(`http://127.0.0.1:${port}`);
    const message = expect.stringContaining('the connection was refused');
    expect(await failure()).toMatchObject({ code: 'source-unreachable', message });
    expect(clock.sleeps.reduce((sum, sleep) => sum + sleep, 0)).toBeLessThan(5000);
  });

  it('with https where the server speaks http is reported as such', async () => {
    const server = await startServer(wholeScript);
    const { failure } = connect(server.url.replace('http:', 'https:'), { maxAttempts: 1 });
    const message = expect.stringContaining('does not use TLS');
    expect(await failure()).toMatchObject({ code: 'source-unreachable', message });
  });
});

describe('the client', () => {
  it.each([400, 403])('goes on after any number of optional requests refused with %i', async (status) => {
    const { server, client } = await serve(send('{}', status));
    for (let offset = 1; offset <= 8; offset += 1)
      await expect(client.fetchPage(voters, at(offset), { mayRefuse: true })).rejects.toThrow(`${status}`);
    expect(server.paths).toHaveLength(8);
  });

  it('ends with the reason of its signal while a request is in flight', async () => {
    let arrived = (): void => {};
    const inFlight = new Promise<void>((resolve) => (arrived = resolve));
    const { failure, controller } = await serve(() => arrived());
    const fetching = failure();
    await inFlight;
    controller.abort(interruptedBy('SIGTERM'));
    expect(await fetching).toMatchObject({ code: 'interrupted' });
  });

  it('stops if a response cannot be landed', async () => {
    const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    const { server, failure } = await serve(wholeScript, { concurrency: 1, land: () => Promise.reject(full) });
    expect([await failure(), await failure()]).toEqual([full, full]);
    expect(server.paths).toHaveLength(1);
  });
});
