/** Writes the OpenAPI 3.1 document of the service from the pipelines it serves. */

import type { AnyPipeline, ColumnDefinition } from '../pipeline.ts';
import { maxBodyBytes, maxHeaderBytes, maxUrlLength } from './limits.ts';
import { parametersOf, type Parameter } from './parameters.ts';

interface DocumentOptions {
  readonly pipelines: readonly AnyPipeline[];
  readonly maxLimit: number;
  readonly rateLimit?: number | undefined;
}

/** A piece of the document: JSON without further structure. */
type Json = Readonly<Record<string, unknown>>;

/** The document, ready for JSON.stringify. */
export function documentService(options: DocumentOptions): Json {
  const { pipelines } = options;
  return {
    openapi: '3.1.0',
    info: {
      title: 'Electoral voter data',
      version: '1.0.0',
      description: 'Statistics of national-legislature elections by electoral district (dapil), regency and sex.',
    },
    paths: {
      ...Object.fromEntries(pipelines.map((pipeline) => [pipeline.endpoint, documentEndpoint(pipeline, options)])),
      '/': documentOpenPath('Says where this document is', { type: 'object' }),
      '/health': documentOpenPath('Answers as long as the service runs', { type: 'object' }),
      '/openapi.json': documentOpenPath('This document', { type: 'object' }),
    },
    components: {
      securitySchemes: {
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'x-api-key',
          description: 'A key issued by whoever runs the service.',
        },
      },
      schemas: {
        ...Object.fromEntries(pipelines.map((pipeline) => [recordSchema(pipeline), documentRecord(pipeline)])),
        Problem: problemSchema,
      },
    },
  };
}

function documentEndpoint(pipeline: AnyPipeline, options: DocumentOptions): Json {
  const parameters = Object.values<Parameter>(parametersOf(pipeline, options.maxLimit)).map(documentParameter);
  const operation = (method: 'get' | 'head'): Json => ({
    operationId: `${method}_${pipeline.table}`,
    summary: method === 'get' ? pipeline.title : `${pipeline.title}, headers only`,
    description: pipeline.comment,
    security: [{ apiKey: [] }],
    parameters: [...parameters, ...conditionHeaders],
    responses: {
      200: {
        description: 'The records, in a fixed order.',
        headers: {
          ETag: textHeader('Changes with the records.'),
          'Last-Modified': textHeader('When the records last changed.'),
        },
        ...(method === 'get' ? jsonContent(documentEnvelope(pipeline)) : {}),
      },
      304: { description: 'The copy that the client has is still good.' },
      ...problems(method, {
        400: 'A parameter is unknown, repeated or not allowed; `parameter` names it.',
        401: 'The key is missing or not accepted.',
        413: `The request has a body of more than ${maxBodyBytes} bytes.`,
        414: `The URL has more than ${maxUrlLength} characters.`,
        ...(options.rateLimit === undefined
          ? {}
          : {
              429: `The key was used more than ${options.rateLimit} times in a minute; Retry-After says how many seconds to wait.`,
            }),
        431: `The URL and the headers together have more than ${maxHeaderBytes} bytes.`,
        500: 'The service failed.',
        503: 'Too many requests are under way; Retry-After says how many seconds to wait.',
        default: 'Any other error.',
      }),
    },
  });
  return { get: operation('get'), head: operation('head') };
}

function documentOpenPath(summary: string, schema: Json): Json {
  const operation = (method: 'get' | 'head'): Json => ({
    summary: method === 'get' ? summary : `${summary}; headers only`,
    security: [],
    responses: {
      200: { description: `${summary}.`, ...(method === 'get' ? jsonContent(schema) : {}) },
      ...problems(method, { default: 'Any error.' }),
    },
  });
  return { get: operation('get'), head: operation('head') };
}

function documentParameter(parameter: Parameter): Json {
  const { name, description, minimum, maximum } = parameter;
  const schema = {
    type: 'integer',
    minimum,
    maximum,
    ...(parameter.default === null ? {} : { default: parameter.default }),
  };
  return { name, in: 'query', required: false, description, schema };
}

const conditionHeaders: readonly Json[] = [
  { name: 'If-None-Match', in: 'header', required: false, ...textHeader('The ETag of the copy that the client has.') },
  {
    name: 'If-Modified-Since',
    in: 'header',
    required: false,
    ...textHeader('Its Last-Modified; counts only without If-None-Match.'),
  },
];

function documentEnvelope(pipeline: AnyPipeline): Json {
  const record = { $ref: `#/components/schemas/${recordSchema(pipeline)}` };
  return {
    type: 'object',
    required: ['count', 'data'],
    properties: {
      count: { type: 'integer', minimum: 0, description: 'Number of records in this answer, not in the dataset.' },
      data: {
        description: 'The record itself where there is one, an array where there are several or none.',
        oneOf: [record, { type: 'array', items: record }],
      },
    },
  };
}

/** No field is required and every count may be null: what the source left in doubt is served as the source had it. */
function documentRecord(pipeline: AnyPipeline): Json {
  return {
    type: 'object',
    title: pipeline.title,
    description: `${pipeline.comment} Values that the source left out, left empty or malformed are passed on as they came.`,
    properties: Object.fromEntries(
      Object.values(pipeline.columns).map((column) => [column.field, documentField(column)]),
    ),
  };
}

function documentField({ kind, comment }: ColumnDefinition): Json {
  switch (kind) {
    case 'text':
      return { type: 'string', description: comment };
    case 'integer':
      return { type: 'string', description: `${comment} Decimal digits.` };
    case 'count':
      return { type: ['string', 'null'], description: `${comment} Decimal digits.` };
  }
}

/** `voting_rights_users` has records of the schema VotingRightsUsersRecord. */
function recordSchema(pipeline: AnyPipeline): string {
  const words = pipeline.table.split('_').map((word) => `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`);
  return `${words.join('')}Record`;
}

const problemSchema: Json = {
  type: 'object',
  description: 'Problem details (RFC 9457).',
  required: ['type', 'title', 'status', 'detail'],
  properties: {
    type: { type: 'string', description: 'Always about:blank: the status says what kind of problem it is.' },
    title: { type: 'string', description: "The status's own phrase." },
    status: { type: 'integer' },
    detail: { type: 'string', description: 'What is wrong with this request.' },
    instance: { type: 'string', description: 'The path that was asked for.' },
    parameter: { type: 'string', description: 'The query parameter that is wrong.' },
  },
};

function problems(method: 'get' | 'head', descriptions: Readonly<Record<string, string>>): Json {
  const content = { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } };
  const entries = Object.entries(descriptions).map(([status, description]) => [
    status,
    { description, ...(method === 'get' ? { content } : {}) },
  ]);
  return Object.fromEntries(entries) as Json;
}

function jsonContent(schema: Json): Json {
  return { content: { 'application/json': { schema } } };
}

function textHeader(description: string): Json {
  return { description, schema: { type: 'string' } };
}
