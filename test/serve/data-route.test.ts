/** The data endpoints: envelope, filter, paging, HEAD and conditional requests, over HTTP. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildRecordSet } from '../../src/serve/record-source.ts';
import type { RecordSet } from '../../src/serve/record-source.ts';
import type { Service } from '../../src/serve/service.ts';
import { ask, lastModified, makeRecords, pipelines, start } from './support.ts';

let service: Service;
beforeAll(async () => {
  service = await start();
});
afterAll(() => service.close());

describe.each(pipelines)('$endpoint', (pipeline) => {
  const records = makeRecords(pipeline);
  const { endpoint } = pipeline;

  async function read(query: string): Promise<unknown> {
    const response = await ask(service, `${endpoint}${query}`);
    expect(response.status).toBe(200);
    return response.json();
  }

  it('answers ten records from the beginning by default', async () => {
    expect(await read('')).toEqual({ count: 10, data: records.slice(0, 10) });
  });

  it('answers several records as an array, in their order', async () => {
    expect(await read('?limit=3&offset=2')).toEqual({ count: 3, data: records.slice(2, 5) });
  });

  it('answers one record as the record itself', async () => {
    expect(await read('?limit=1')).toEqual({ count: 1, data: records[0] });
    expect(await read('?id_dapil=11')).toEqual({ count: 1, data: records[0] });
    expect(await read('?offset=30')).toEqual({ count: 1, data: records[30] });
  });

  it('answers no records as an empty array', async () => {
    expect(await read('?offset=31')).toEqual({ count: 0, data: [] });
    expect(await read('?offset=2147483647')).toEqual({ count: 0, data: [] });
    expect(await read('?id_dapil=12&offset=30')).toEqual({ count: 0, data: [] });
  });

  it('answers an unknown district with no records', async () => {
    expect(await read('?id_dapil=999')).toEqual({ count: 0, data: [] });
    expect(await read('?id_dapil=0')).toEqual({ count: 0, data: [] });
  });

  it('filters by district and pages within it', async () => {
    expect(await read('?id_dapil=12&limit=2&offset=28')).toEqual({ count: 2, data: records.slice(29, 31) });
    expect(await read('?id_dapil=0012&limit=1000')).toEqual({ count: 30, data: records.slice(1) });
  });

  it('gives the whole dataset page by page, nothing lost and nothing twice', async () => {
    const pages: unknown[] = [];
    for (let offset = 0; offset < records.length; offset += 7) {
      pages.push(((await read(`?limit=7&offset=${offset}`)) as { data: unknown }).data);
    }
    expect(pages.flat()).toEqual(records);
  });

  it('writes every value as a string', async () => {
    const { data } = (await read('?limit=1')) as { data: Record<string, unknown> };
    expect(Object.keys(data)).toEqual(Object.values(pipeline.columns).map(({ field }) => field));
    expect(Object.values(data).every((value) => typeof value === 'string')).toBe(true);
  });

  it('says what the answer is and that only the client may keep it', async () => {
    const { headers } = await ask(service, endpoint);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(headers.get('cache-control')).toBe('private, no-cache');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });

  it('answers HEAD with the headers of GET and no body', async () => {
    const got = await ask(service, `${endpoint}?limit=2`);
    const head = await ask(service, `${endpoint}?limit=2`, { method: 'HEAD' });
    expect(head.status).toBe(200);
    expect(await head.text()).toBe('');
    for (const name of ['content-type', 'etag', 'last-modified', 'cache-control']) {
      expect(head.headers.get(name)).toBe(got.headers.get(name));
    }
    expect(head.headers.get('content-length')).toBe(String(Buffer.byteLength(await got.text())));
  });

  describe('conditional requests', () => {
    it.each(['GET', 'HEAD'])('answers %s with 304 and no body while the copy is good', async (method) => {
      const etag = (await ask(service, endpoint)).headers.get('etag') ?? '';
      expect(etag).toMatch(/^"[\w-]+"$/);
      for (const tag of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        const response = await ask(service, endpoint, { method, headers: { 'if-none-match': tag } });
        expect(response.status).toBe(304);
        expect(response.headers.get('etag')).toBe(etag);
        expect(response.headers.get('cache-control')).toBe('private, no-cache');
        expect(await response.text()).toBe('');
      }
    });

    it('answers in full where the tag is another one', async () => {
      const other = (await ask(service, `${endpoint}?offset=1`)).headers.get('etag') ?? '';
      const response = await ask(service, endpoint, { headers: { 'if-none-match': other } });
      expect(response.status).toBe(200);
    });

    it.each([
      ['the time itself', lastModified.toUTCString(), 304],
      ['later', 'Sat, 21 Nov 2026 00:00:00 GMT', 304],
      ['a second earlier', 'Fri, 20 Nov 2026 03:00:01 GMT', 200],
      ['no date', 'yesterday', 200],
    ])('If-Modified-Since: %s', async (_, date, status) => {
      expect((await ask(service, endpoint, { headers: { 'if-modified-since': date } })).status).toBe(status);
    });

    it('lets If-None-Match decide alone', async () => {
      const headers = { 'if-none-match': '"other"', 'if-modified-since': lastModified.toUTCString() };
      expect((await ask(service, endpoint, { headers })).status).toBe(200);
    });

    it('says in Last-Modified when the records changed', async () => {
      expect((await ask(service, endpoint)).headers.get('last-modified')).toBe('Fri, 20 Nov 2026 03:00:02 GMT');
    });
  });
});

it('has another ETag as soon as the records change', async () => {
  const one = { text: '{"a":"1"}', district: null };
  const other = { text: '{"a":"2"}', district: null };
  const tags = [[one], [other], [one, other], [other, one], []].map(
    (served) => buildRecordSet(served, lastModified).etag,
  );
  expect(new Set(tags).size).toBe(tags.length);
  expect(buildRecordSet([one], new Date(0)).etag).toBe(tags[0]);

  let set: RecordSet = buildRecordSet([one], lastModified);
  const changing = await start({ source: { current: () => set, close() {} } });
  try {
    const { endpoint } = pipelines[0]!;
    const before = (await ask(changing, endpoint)).headers.get('etag') ?? '';
    set = buildRecordSet([other], lastModified);
    const response = await ask(changing, endpoint, { headers: { 'if-none-match': before } });
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('{"count":1,"data":{"a":"2"}}');
  } finally {
    await changing.close();
  }
});

it.each([2, 300])('passes %i record texts on byte for byte, beyond ASCII too', async (count) => {
  const text = `{"NamaKabupaten":"KOTA \u00e9\u{1f5f3}","n":12345678901234567890,"e":1.0,"long":"${'x'.repeat(999)}"}`;
  const texts = Array.from({ length: count }, () => text);
  const set = buildRecordSet(
    texts.map((one) => ({ text: one, district: 1 })),
    lastModified,
  );
  const exact = await start({ source: { current: () => set, close() {} } });
  try {
    const path = `${pipelines[0]!.endpoint}?limit=1000`;
    const response = await ask(exact, path);
    const body = await response.text();
    expect(body).toBe(`{"count":${count},"data":[${texts.join(',')}]}`);
    const head = await ask(exact, path, { method: 'HEAD' });
    for (const { headers } of [response, head])
      expect(headers.get('content-length')).toBe(String(Buffer.byteLength(body)));
  } finally {
    await exact.close();
  }
});
