/** The data endpoints over HTTP: envelope, filter, paging, HEAD, conditional requests, strict parameters. */

import { beforeAll, describe, expect, it } from 'vitest';
import { buildRecordSet } from '../../src/serve/record-source.ts';
import { type Service, startService } from '../../src/serve/service.ts';
import {
  ask,
  expectProblem,
  key,
  lastModified,
  makeOptions,
  makeRecords,
  pipelines,
  sourceOf,
  start,
} from './support.ts';

let service: Service;
beforeAll(async () => {
  service = await startService(makeOptions());
  return () => service.close();
});

const first = pipelines[0]!.path;

describe.each(pipelines)('$path', (pipeline) => {
  const records = makeRecords(pipeline);
  const { path: endpoint } = pipeline;

  it.each([
    ['ten records from the beginning', '', records.slice(0, 10)],
    ['several as an array, in their order', '?limit=3&offset=2', records.slice(2, 5)],
    ['one as the record itself', '?limit=1', records[0]],
    ['one as the record itself', '?id_dapil=11', records[0]],
    ['none as an empty array', '?offset=31', []],
    ['none beyond a partition', '?id_dapil=12&offset=30', []],
    ['a page of a partition', '?id_dapil=12&limit=2&offset=28', records.slice(29, 31)],
    ['a partition with leading zeros', '?id_dapil=0012&limit=50', records.slice(1)],
  ])('answers %s: %s', async (_, query, data) => {
    const response = await ask(service, `${endpoint}${query}`);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ count: [data].flat().length, data });
  });

  it('answers HEAD with the headers of GET and no body', async () => {
    const got = await ask(service, `${endpoint}?limit=2`);
    const head = await ask(service, `${endpoint}?limit=2`, { method: 'HEAD' });
    expect(await head.text()).toBe('');
    const expected = {
      'content-type': 'application/json; charset=utf-8',
      'content-length': String(Buffer.byteLength(await got.text())),
      'cache-control': 'private, no-cache',
      'x-content-type-options': 'nosniff',
      'last-modified': 'Fri, 20 Nov 2026 03:00:02 GMT',
      etag: expect.any(String),
    };
    for (const { headers } of [got, head]) expect(Object.fromEntries(headers)).toMatchObject(expected);
    expect(head.headers.get('etag')).toBe(got.headers.get('etag'));
  });

  it.each(['GET', 'HEAD'])('answers %s with 304 and no body while the copy is current', async (method) => {
    const etag = (await ask(service, endpoint)).headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[\w-]+"$/);
    for (const tag of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const response = await ask(service, endpoint, { method, headers: { 'if-none-match': tag } });
      expect([response.status, response.headers.get('etag'), await response.text()]).toEqual([304, etag, '']);
    }
    for (const tag of ['"other"', etag.slice(0, -2), (await ask(service, `${endpoint}?offset=1`)).headers.get('etag')!])
      expect((await ask(service, endpoint, { method, headers: { 'if-none-match': tag } })).status).toBe(200);
  });
});

it('has another ETag if the records or their order change', async () => {
  const etagOf = (...texts: string[]): string => sourceOf(texts).current(pipelines[0]!).etag;
  const tags = [etagOf('1'), etagOf('2'), etagOf('1', '2'), etagOf('2', '1'), etagOf()];
  expect(new Set(tags).size).toBe(tags.length);
  expect(buildRecordSet([{ text: '1', partition: null }], new Date(0)).etag).toBe(tags[0]);

  let source = sourceOf(['{"a":"1"}']);
  const changing = await start({ source: { current: (pipeline) => source.current(pipeline), close() {} } });
  const before = (await ask(changing, first)).headers.get('etag') ?? '';
  source = sourceOf(['{"a":"2"}']);
  const response = await ask(changing, first, { headers: { 'if-none-match': before } });
  expect(await response.text()).toBe('{"count":1,"data":{"a":"2"}}');
});

it.each([2, 300])('serves %i records byte for byte, also beyond ASCII', async (count) => {
  const text = `{"NamaKabupaten":"KOTA \u00e9\u{1f5f3}","n":12345678901234567890,"e":1.0,"long":"${'x'.repeat(999)}"}`;
  const texts = Array.from({ length: count }, () => text);
  const exact = await start({ source: sourceOf(texts) });
  const response = await ask(exact, `${first}?limit=1000`);
  const body = await response.text();
  expect(body).toBe(`{"count":${count},"data":[${texts.join(',')}]}`);
  const head = await ask(exact, `${first}?limit=1000`, { method: 'HEAD' });
  for (const { headers } of [response, head])
    expect(headers.get('content-length')).toBe(String(Buffer.byteLength(body)));
  expect(response.headers.get('last-modified')).toBe(lastModified.toUTCString());
});

describe('parameters', () => {
  const refused: Readonly<Record<string, readonly [allowed: string, ...values: string[]]>> = {
    limit: ['1 to 1000', '0', '1001', '9'.repeat(20), '', '1e1', '%2B5', '5%00', '%D9%A5'],
    offset: ['0 to 2147483647', '-1', '2147483648'],
    id_dapil: ['0 to 2147483647', 'abc', '11%27%20OR%201=1'],
  };

  it.each(Object.entries(refused).flatMap(([name, [allowed, ...values]]) => values.map((v) => [name, v, allowed])))(
    'refuses %s=%s and names the parameter',
    async (name, value, allowed) => {
      const problem = await expectProblem(await ask(service, `${first}?${name}=${value}`), 400, first);
      expect(problem.parameter).toBe(name);
      expect(problem.detail).toContain(allowed);
    },
  );

  it.each([
    ['limit=5&limit=5', 'limit', 'repeated'],
    ['id_dapil[]=11', 'id_dapil[]', 'id_dapil, limit, offset'],
    ['ID_DAPIL=11', 'ID_DAPIL', 'id_dapil, limit, offset'],
    ['__proto__=1', '__proto__', 'id_dapil, limit, offset'],
  ])('refuses %s and names the parameter', async (query, parameter, allowed) => {
    const problem = await expectProblem(await ask(service, `${first}?${query}`), 400, first);
    expect(problem.parameter).toBe(parameter);
    expect(problem.detail).toContain(allowed);
  });

  it('are refused without their value, which may be a key, and without a long name in full', async () => {
    await expectProblem(await ask(service, `${first}?api_key=${key}`), 400, first);
    await expectProblem(await ask(service, `${first}?limit=${key}`), 400, first);
    const { detail } = await expectProblem(await ask(service, `${first}?${'n'.repeat(1500)}=1`), 400, first);
    expect(detail.length).toBeLessThan(200);
  });
});
