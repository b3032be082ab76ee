/** The document at /openapi.json and the service say the same: routes, methods, parameters, statuses, fields. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildApp } from '../../src/serve/app.ts';
import type { Service } from '../../src/serve/service.ts';
import { ask, hugeSource, lastModified, makeOptions, pipelines, requestRaw, start } from './support.ts';

interface Operation {
  readonly summary: string;
  readonly security: readonly unknown[];
  readonly parameters?: readonly { name: string; in: string; description: string; schema: Record<string, unknown> }[];
  readonly responses: Readonly<Record<string, { description: string; content?: Record<string, unknown> }>>;
}

interface Document {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, { properties: Record<string, { type: unknown; description: string }> }>>;
    readonly securitySchemes: { readonly apiKey: unknown };
  };
}

const options = makeOptions({ rateLimit: 1_000, maxLimit: 500 });
let service: Service;
let document: Document;
beforeAll(async () => {
  service = await start(options);
  // Without a key: whoever writes a client has none yet.
  const response = await fetch(`${service.url}/openapi.json`);
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  document = (await response.json()) as Document;
});
afterAll(() => service.close());

/** Every path and method of the document. */
function operations(): [path: string, method: string, operation: Operation][] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, string, Operation] => [
      path,
      method.toUpperCase(),
      operation,
    ]),
  );
}

it('is OpenAPI 3.1 whose references all lead somewhere', () => {
  expect(document.openapi).toMatch(/^3\.1\.\d+$/);
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#([^"]+)"/g)].map(([, pointer]) => pointer ?? '');
  expect(references.length).toBeGreaterThan(0);
  for (const pointer of references) {
    let target: unknown = document;
    for (const part of pointer.split('/').slice(1)) target = (target as Record<string, unknown>)[part];
    expect(target, pointer).toBeTypeOf('object');
  }
});

it('documents every route and method, and no other', async () => {
  const app = await buildApp(options);
  await app.ready();
  const printed = [...app.printRoutes({ commonPrefix: false }).matchAll(/── (\S+) \((.+)\)/g)];
  const routes = printed.flatMap(([, path = '', methods = '']) =>
    methods.split(', ').map((method) => `${method} /${path.replace(/^\//, '')}`),
  );
  await app.close();
  expect(routes).toHaveLength(2 * (pipelines.length + 3));
  expect(
    operations()
      .map(([path, method]) => `${method} ${path}`)
      .toSorted(),
  ).toEqual(routes.toSorted());
});

it('documents what each operation answers, with a key and without', async () => {
  for (const [path, method, operation] of operations()) {
    expect((await ask(service, path, { method })).status, `${method} ${path}`).toBe(200);
    const { status } = await fetch(`${service.url}${path}`, { method });
    expect(status, `${method} ${path} without a key`).toBe(operation.security.length === 0 ? 200 : 401);
    expect(Object.keys(operation.responses)).toContain(String(status));
  }
});

it('says of each operation in a few words what it is, and of HEAD that only headers come', () => {
  for (const [path, method, { summary }] of operations()) {
    expect(summary, `${method} ${path}`).not.toBe('');
    expect(summary.includes('headers only'), `${method} ${path}`).toBe(method === 'HEAD');
  }
});

it('has no body in the answers to HEAD', () => {
  for (const [, method, { responses }] of operations()) {
    for (const [status, response] of Object.entries(responses)) {
      expect(response.content !== undefined, `${method} ${status}`).toBe(method === 'GET' && status !== '304');
    }
  }
});

describe.each(pipelines)('$endpoint', (pipeline) => {
  const { endpoint } = pipeline;

  it('has every documented status in reach, and no other', async () => {
    const [limited, full, broken] = await Promise.all([
      start({ rateLimit: 1 }),
      start({ maxConnections: 1, source: hugeSource() }),
      start({
        source: {
          current() {
            throw new Error('broken');
          },
          close() {},
        },
      }),
    ]);
    try {
      await ask(limited, endpoint);
      const answersUnread = await ask(full, endpoint);
      const answers = await Promise.all([
        ask(service, endpoint),
        ask(service, endpoint, { headers: { 'if-modified-since': lastModified.toUTCString() } }),
        ask(service, `${endpoint}?limit=0`),
        fetch(`${service.url}${endpoint}`),
        requestRaw(service, 'GET', endpoint, ['content-length: 5000']),
        ask(service, `${endpoint}?limit=${'0'.repeat(2048)}`),
        ask(limited, endpoint),
        requestRaw(service, 'GET', endpoint, [`cookie: ${'c'.repeat(9000)}`]),
        ask(broken, endpoint),
        requestRaw(full, 'GET', endpoint),
      ]);
      await answersUnread.body?.cancel();
      const statuses = answers.map((answer) => String(answer?.status));
      for (const method of ['get', 'head']) {
        const documented = Object.keys(document.paths[endpoint]?.[method]?.responses ?? {});
        expect(documented.toSorted()).toEqual([...statuses, 'default'].toSorted());
      }
    } finally {
      await Promise.all([limited.close(), full.close(), broken.close()]);
    }
  });

  it('says of each parameter exactly what is accepted', async () => {
    const parameters = (document.paths[endpoint]?.['get']?.parameters ?? []).filter(
      (parameter) => parameter.in === 'query',
    );
    expect(parameters.map(({ name }) => name)).toEqual([pipeline.districtParameter, 'limit', 'offset']);
    for (const { name, description, schema } of parameters) {
      expect(description).not.toBe('');
      const { minimum, maximum } = schema as { minimum: number; maximum: number };
      const status = async (value: number): Promise<number> =>
        (await ask(service, `${endpoint}?${name}=${value}`)).status;
      expect(
        [await status(minimum - 1), await status(minimum), await status(maximum), await status(maximum + 1)],
        name,
      ).toEqual([400, 200, 200, 400]);
    }
    const defaults = Object.fromEntries(parameters.map(({ name, schema }) => [name, schema['default']]));
    expect(defaults).toEqual({ limit: 10, offset: 0 });
    const explicit = await ask(service, `${endpoint}?limit=10&offset=0`);
    expect(await (await ask(service, endpoint)).text()).toBe(await explicit.text());
  });

  it('describes an answer of none, of one and of several records', async () => {
    const content = document.paths[endpoint]?.['get']?.responses['200']?.content as Record<string, { schema: unknown }>;
    const name = pipeline.table === 'voters' ? 'VotersRecord' : 'VotingRightsUsersRecord';
    const record = { $ref: `#/components/schemas/${name}` };
    expect(content['application/json']?.schema).toMatchObject({
      required: ['count', 'data'],
      properties: {
        count: { type: 'integer', minimum: 0 },
        data: { oneOf: [record, { type: 'array', items: record }] },
      },
    });
    for (const limit of [1, 2]) {
      const answer = (await (await ask(service, `${endpoint}?limit=${limit}`)).json()) as object;
      expect(Object.keys(answer)).toEqual(['count', 'data']);
    }
  });

  it('names every field of a record, with its meaning, and no other', async () => {
    const { data } = (await (await ask(service, `${endpoint}?limit=1`)).json()) as { data: Record<string, string> };
    const name = pipeline.table === 'voters' ? 'VotersRecord' : 'VotingRightsUsersRecord';
    const properties = document.components.schemas[name]?.properties ?? {};
    expect(Object.keys(properties)).toEqual(Object.keys(data));
    for (const [field, { description, type }] of Object.entries(properties)) {
      const column = Object.values(pipeline.columns).find((candidate) => candidate.field === field);
      expect(description).toContain(column?.comment);
      expect(type).toEqual(column?.kind === 'count' ? ['string', 'null'] : 'string');
    }
  });
});

it('mentions 429 only where there is a rate limit', async () => {
  const free = await start();
  try {
    const other = (await (await fetch(`${free.url}/openapi.json`)).json()) as Document;
    expect(JSON.stringify(other)).not.toContain('"429"');
    expect(JSON.stringify(document)).toContain('"429"');
  } finally {
    await free.close();
  }
});

it('is what the root points to; health needs no key', async () => {
  const root = (await (await fetch(`${service.url}/`)).json()) as { openapi: string };
  expect((await fetch(`${service.url}${root.openapi}`)).status).toBe(200);
  expect(await (await fetch(`${service.url}/health`)).json()).toEqual({ status: 'ok' });
});
