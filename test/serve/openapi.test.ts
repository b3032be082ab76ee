/** The document at /openapi.json agrees with the service in parameters, statuses and fields. */

import { beforeAll, describe, expect, it } from 'vitest';
import type { AnyPipeline } from '../../src/project/declaration.ts';
import { buildRecordSet, fixedSource } from '../../src/serve/record-source.ts';
import { type Service, startService } from '../../src/serve/service.ts';
import { ask, hugeSource, lastModified, makeOptions, pipelines, requestRaw, start } from './support.ts';

interface Schema {
  readonly type?: unknown;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly oneOf?: readonly Schema[];
}

interface Operation {
  readonly summary: string;
  readonly security: readonly unknown[];
  readonly parameters: readonly { name: string; description: string; schema: Record<string, number> }[];
  readonly responses: Readonly<Record<string, { description: string; content?: Record<string, { schema: Schema }> }>>;
}

interface Document {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, { readonly get: Operation }>>;
}

/** The document needs no key. */
async function readDocument({ url }: Service): Promise<Document> {
  return (await (await fetch(`${url}/openapi.json`)).json()) as Document;
}

let service: Service;
let document: Document;
beforeAll(async () => {
  service = await startService(makeOptions());
  document = await readDocument(service);
  return () => service.close();
});

it('is OpenAPI 3.1, and lists the endpoints', () => {
  expect(document.openapi).toMatch(/^3\.1\.\d+$/);
  expect(Object.keys(document.paths)).toEqual(pipelines.map(({ path }) => path));
});

describe.each(pipelines)('$path', (pipeline) => {
  const { path } = pipeline;

  it('can return every documented status, and no other', async () => {
    const current = (): never => {
      throw new Error('broken');
    };
    const [full, broken] = await Promise.all([
      start({ maxConnections: 1, source: hugeSource() }),
      start({ source: { current, close() {} } }),
    ]);
    const unread = await ask(full, path);
    const { headers } = await ask(service, path);
    const answers = await Promise.all([
      ask(service, path),
      ask(service, path, { headers: { 'if-none-match': headers.get('etag')! } }),
      ask(service, `${path}?limit=0`),
      fetch(`${service.url}${path}`),
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
    const envelope = document.paths[path]!.get.responses['200']!.content!['application/json']!.schema;
    const properties = envelope.properties!['data']!.oneOf![0]!.properties!;
    expect(Object.keys(properties)).toEqual(Object.keys(data));
    for (const { field, comment, kind } of Object.values(pipeline.columns)) {
      expect(properties[field]?.description).toBe(comment);
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
  const { paths } = await readDocument(own);
  const schema = paths['/v1/list']?.get.responses['200']?.content?.['application/json']?.schema;
  expect(schema).toMatchObject({
    properties: {
      result: { properties: { total: { type: 'integer' }, items: {} } },
      page: { properties: { next: { type: ['string', 'null'] } } },
    },
  });
  expect(schema?.properties?.['result']?.properties?.['items']?.oneOf?.[0]).toMatchObject({
    properties: { owner: { properties: { name: { description: 'Name of the owner.' } } } },
  });
  expect(await (await ask(own, '/v1/list')).json()).toEqual({
    result: { total: 1, items: record },
    page: { next: null },
  });
});
