/** Describes the data endpoints as Fastify route schemas, from which @fastify/swagger writes the OpenAPI document. */

import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger';
import type { FastifySchema } from 'fastify';
import { kindOf } from '../kinds/kinds.ts';
import type { AnyPipeline, Auth, Project } from '../project/declaration.ts';
import { fieldPath, pointerPath } from '../project/field-path.ts';
import { shapeOf } from '../source/decode/document-shape.ts';
import { parametersOf } from './selection.ts';

type Json = Readonly<Record<string, unknown>>;

interface ObjectSchema {
  readonly type: 'object';
  readonly properties: Record<string, object>;
}

/** What a service says about its project. */
export type About = Pick<Project, 'title' | 'description' | 'auth'>;

/** Settings of @fastify/swagger for a service. */
export function documentService({ title, description, auth }: About): FastifyDynamicSwaggerOptions {
  return {
    openapi: {
      openapi: '3.1.0',
      info: {
        title,
        version: '1.0.0',
        description: `${description.replace(/\.?$/, '.')} Every path also supports HEAD.`,
      },
      components: auth === null ? {} : { securitySchemes: { apiKey: describeAuth(auth) } },
    },
  };
}

/** Returns the schema of a data endpoint. It only documents: `readSelection` reads the parameters. */
export function documentEndpoint(pipeline: AnyPipeline): FastifySchema {
  const { partition, size, position, fixed } = parametersOf(pipeline);
  const parameters = [...partition, size, position, ...fixed].flatMap((parameter) => {
    if (parameter === null) return [];
    const { name, ...schema } = parameter;
    return [[name, { type: 'minimum' in parameter ? 'integer' : 'string', ...schema }] as const];
  });
  return {
    operationId: `get_${pipeline.table}`,
    summary: pipeline.title,
    description: pipeline.comment,
    security: [{ apiKey: [] }],
    querystring: { type: 'object', properties: Object.fromEntries(parameters) },
    response: {
      200: {
        description: 'The records, in a fixed order. When they change, the ETag and Last-Modified change.',
        content: contentOf(pipeline),
      },
      304: { description: 'Not modified: the ETag in If-None-Match is current.', type: 'null' },
      ...describeProblems({
        400: 'A parameter is unknown, repeated or invalid. `parameter` names it.',
        401: 'The key is missing or not accepted.',
        500: 'The service failed to process the request.',
        503: 'Too many requests are in progress. Retry after the number of seconds in Retry-After.',
        default: 'Any other error.',
      }),
    },
  };
}

function describeAuth(auth: Auth) {
  if ('bearer' in auth || 'oauth2' in auth) return { type: 'http', scheme: 'bearer' } as const;
  if ('basic' in auth) return { type: 'http', scheme: 'basic' } as const;
  if ('query' in auth) return { type: 'apiKey', in: 'query', name: auth.query } as const;
  return { type: 'apiKey', in: 'header', name: auth.header } as const;
}

function contentOf(pipeline: AnyPipeline): Json {
  const record = recordOf(pipeline);
  const { format, records, reportedCount, next, hasMore } = shapeOf(pipeline);
  if (pipeline.format === 'csv')
    return { 'text/csv': { schema: { type: 'string', description: 'A table with a row of names.' } } };
  if (pipeline.format === 'rows')
    return { 'application/json': { schema: { type: 'array', items: { type: 'array' } } } };
  if (format === 'ndjson')
    return { 'application/x-ndjson': { schema: { type: 'string', description: 'One record per line.' } } };
  const list = { type: 'array', items: record };
  if (records === '') return { 'application/json': { schema: list } };
  const schema: ObjectSchema = { type: 'object', properties: {} };
  const description = 'The record itself if there is exactly one. Otherwise an array of records, which can be empty.';
  const members: readonly (readonly [pointer: string | undefined, schema: Json])[] = [
    [reportedCount, { type: 'integer', description: 'Number of records in this response, not in the dataset.' }],
    [records, { description, oneOf: [record, list] }],
    [hasMore, { type: 'boolean', description: 'True if another page follows.' }],
    [next, { type: ['string', 'null'], description: 'The next page. Null on the last page.' }],
  ];
  for (const [pointer, member] of members) if (pointer !== undefined) writeSchema(schema, pointerPath(pointer), member);
  return { 'application/json': { schema } };
}

/** No field is required, because values are served as the source sent them. */
function recordOf({ title, comment, columns, key }: AnyPipeline): Json {
  const description = `${comment} Values that are missing, empty or malformed in the source are returned as received.`;
  const record = { type: 'object', title, description, properties: {} } as const;
  for (const [name, column] of Object.entries(columns)) {
    const { type, ...schema } = kindOf(column).schema;
    const mayBeNull = column.kind !== 'text' && !key.includes(name);
    const member = { ...schema, type: mayBeNull ? [type, 'null'] : type, description: column.comment };
    writeSchema(record, fieldPath(column.field), member);
  }
  return record;
}

/** Adds the schema of a member and its parent objects. */
function writeSchema(root: ObjectSchema, path: readonly string[], schema: Json): void {
  let place = root;
  for (const name of path.slice(0, -1))
    place = (place.properties[name] ??= { type: 'object', properties: {} }) as ObjectSchema;
  place.properties[path.at(-1)!] = schema;
}

function describeProblems(descriptions: Readonly<Record<string, string>>): Json {
  const content = { 'application/problem+json': { schema: problemSchema } };
  return Object.fromEntries(
    Object.entries(descriptions).map(([status, description]) => [status, { description, content }]),
  );
}

const text: Json = { type: 'string' };
const problemSchema: Json = {
  type: 'object',
  description: 'Problem details (RFC 9457); `instance` is the path. `parameter` is the invalid query parameter.',
  required: ['type', 'title', 'status', 'detail'],
  properties: { type: text, title: text, status: { type: 'integer' }, detail: text, instance: text, parameter: text },
};
