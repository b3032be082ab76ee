/** The document at /openapi.json agrees with the service in paths, parameters, statuses and fields. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Readable } from 'node:stream';
import type { AnyPipeline } from '../../src/project/declaration.ts';
import { buildRecordSet, fixedSource } from '../../src/serve/record-source.ts';
import type { ServedSite } from '../../src/serve/served-site.ts';
import type { Service } from '../../src/serve/service.ts';
import type { SqlOptions } from '../../src/serve/sql-endpoint.ts';
import { ask, emptySite, hugeSource, lastModified, pipelines, requestRaw, start } from './support.ts';

interface Operation {
  readonly summary: string;
  readonly security: readonly unknown[];
  readonly parameters: readonly { name: string; description: string; schema: Record<string, number> }[];
  readonly responses: Readonly<Record<string, { description: string; content?: Record<string, { schema: unknown }> }>>;
}

interface Document {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, { readonly get: Operation }>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, { properties: Record<string, { type: unknown; description: string }> }>>;
  };
}

/** The document needs no key. */
async function readDocument({ url }: Service): Promise<Document> {
  return (await (await fetch(`${url}/openapi.json`)).json()) as Document;
}

/** A snapshot with one small table. */
const site: ServedSite = {
  ...emptySite,
  report: async () => Buffer.from('<!doctype html><title>Report</title><body>'),
  table: async () => ({ type: 'text/csv', bytes: null, etag: 'x', open: async () => Readable.from(['n\n1\n']) }),
};

const sql: SqlOptions = {
  answer: async () => ({ columns: [], text: '[]', rows: 0, truncated: false }),
  onlyLoopback: true,
};

let service: Service;
let document: Document;
beforeAll(async () => {
  service = await start({ rateLimit: 1_000, maxLimit: 500, site, sql }, afterAll);
  document = await readDocument(service);
});

it('is OpenAPI 3.1, and every reference has a target', () => {
  expect(document.openapi).toMatch(/^3\.1\.\d+$/);
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)];
  expect(references.length).toBeGreaterThan(0);
  for (const [, name] of references) expect(document.components.schemas).toHaveProperty(name!);
});

it('is named at the root, and lists every path', async () => {
  expect(await (await fetch(service.url)).json()).toHaveProperty('openapi', '/openapi.json');
  const endpoints = pipelines.map(({ path }) => path);
  const others =
    '/ /dictionary /docs /health /metrics /openapi.json /report /report.html /sql /sql.csv /sql.json /tables /tables/{file}';
  expect(new Set(Object.keys(document.paths))).toEqual(new Set([...endpoints, ...others.split(' ')]));
});

it('lists which paths require a key; all answer GET and HEAD', async () => {
  expect(await (await fetch(`${service.url}/health`)).json()).toMatchObject({ status: 'ok' });
  for (const [template, { get }] of Object.entries(document.paths)) {
    const path = template.replace('{file}', 'voters.csv').replace(/^\/sql.*/, '$&?sql=FROM+voters');
    expect(get.summary, path).not.toBe('');
    for (const method of ['GET', 'HEAD']) {
      expect((await ask(service, path, { method })).status, `${method} ${path}`).toBe(200);
      const { status } = await fetch(service.url + path, { method });
      expect(status, `${method} ${path} without a key`).toBe(get.security.length === 0 ? 200 : 401);
    }
  }
});

it('documents SQL only if it is enabled, and no key if the sample is open', async () => {
  const open = await start({ site, openSample: true });
  const { paths } = await readDocument(open);
  expect(Object.keys(paths).filter((path) => path.startsWith('/sql'))).toEqual([]);
  expect(paths['/tables/{file}']!.get.security).toEqual([{}, { apiKey: [] }]);
  expect((await fetch(`${open.url}/tables/voters.csv`)).status).toBe(200);
});

it('lists 429 only with a rate limit', async () => {
  expect(JSON.stringify(document)).toContain('"429"');
  expect(JSON.stringify(await readDocument(await start()))).not.toContain('"429"');
});

describe.each(pipelines)('$path', (pipeline) => {
  const { path } = pipeline;
  const schema = pipeline.table === 'voters' ? 'VotersRecord' : 'VotingRightsUsersRecord';

  it('can return every documented status, and no other', async () => {
    const current = (): never => {
      throw new Error('broken');
    };
    const [limited, full, broken] = await Promise.all([
      start({ rateLimit: 1 }),
      start({ maxConnections: 1, source: hugeSource() }),
      start({ source: { current, close() {} } }),
    ]);
    await ask(limited, path);
    const unread = await ask(full, path);
    const { headers } = await ask(service, path);
    const answers = await Promise.all([
      ask(service, path),
      ask(service, path, { headers: { 'if-none-match': headers.get('etag')! } }),
      ask(service, `${path}?limit=0`),
      fetch(`${service.url}${path}`),
      ask(limited, path),
      ask(broken, path),
      requestRaw(full, 'GET', path),
    ]);
    await unread.body?.cancel();
    const statuses = answers.map((answer) => String(answer?.status));
    const documented = Object.keys(document.paths[path]!.get.responses);
    expect(documented.toSorted()).toEqual([...statuses, 'default'].toSorted());
  });

  it('documents the accepted values of each parameter', async () => {
    const { parameters } = document.paths[path]!.get;
    expect(parameters.map(({ name, schema: { default: usual } }) => [name, usual])).toEqual([
      [pipeline.partition!.parameter, undefined],
      ['limit', 10],
      ['offset', 0],
    ]);
    for (const { name, schema: bounds } of parameters) {
      const { minimum, maximum } = bounds as { minimum: number; maximum: number };
      const values = [minimum - 1, minimum, maximum, maximum + 1];
      const answers = await Promise.all(values.map((value) => ask(service, `${path}?${name}=${value}`)));
      expect([name, ...answers.map(({ status }) => status)]).toEqual([name, 400, 200, 200, 400]);
    }
  });

  it('lists exactly the fields of a record, with their meaning', async () => {
    const { data } = (await (await ask(service, `${path}?limit=1`)).json()) as { data: Record<string, string> };
    const { properties } = document.components.schemas[schema]!;
    expect(Object.keys(properties)).toEqual(Object.keys(data));
    for (const { field, comment, kind } of Object.values(pipeline.columns)) {
      expect(properties[field]?.description).toContain(comment);
      expect(properties[field]?.type).toEqual(kind === 'count' ? ['string', 'null'] : 'string');
    }
  });
});

it('describes the envelope and nested objects that a pipeline declares', async () => {
  const pipeline: AnyPipeline = {
    ...pipelines[0]!,
    path: '/v1/list',
    paging: { by: 'next', cursor: '/page/next', parameter: 'cursor' },
    records: '/result/items',
    reportedCount: '/result/total',
    columns: {
      ...pipelines[0]!.columns,
      owner: { kind: 'text', field: '/owner/name', comment: 'Name of the owner.' },
    },
  };
  const record = { owner: { name: 'A' } };
  const set = buildRecordSet([{ text: JSON.stringify(record), partition: null }], lastModified);
  const own = await start({ pipelines: [pipeline], source: fixedSource(new Map([['voters', set]])) });
  const { paths, components } = await readDocument(own);
  const schema = paths['/v1/list']?.get.responses['200']?.content?.['application/json']?.schema;
  expect(schema).toMatchObject({
    required: ['result', 'page'],
    properties: {
      result: { required: ['total', 'items'], properties: { total: { type: 'integer' }, items: {} } },
      page: { required: ['next'], properties: { next: { type: ['string', 'null'] } } },
    },
  });
  expect(components.schemas['VotersRecord']?.properties['owner']).toMatchObject({
    properties: { name: { description: 'Name of the owner.' } },
  });
  expect(await (await ask(own, '/v1/list')).json()).toEqual({
    result: { total: 1, items: record },
    page: { next: null },
  });
});
