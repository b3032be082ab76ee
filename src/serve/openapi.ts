/** Writes the OpenAPI 3.1 document of the service from the pipelines it serves. */

import type { AnyPipeline } from '../pipeline.ts';
import { parametersOf } from './data-endpoint.ts';
import { tableFormats } from './served-site.ts';

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
      description:
        'Statistics of national-legislature elections by electoral district (dapil), regency and sex. HEAD gives the headers of GET at every path.',
    },
    paths: {
      ...Object.fromEntries(
        pipelines.map((pipeline) => [pipeline.endpoint, { get: documentEndpoint(pipeline, options) }]),
      ),
      '/tables/{file}': { get: documentTables() },
      '/': documentOpenPath('A page for a browser; for a program, where this document is'),
      '/docs': documentOpenPath('This reference as a page', 'text/html'),
      '/dictionary': documentOpenPath('Every table and column of the snapshot, as a page', 'text/html'),
      '/report': documentOpenPath('The report of the snapshot, as a page', 'text/html'),
      '/metrics': documentOpenPath('What the log of runs says, in the text format of Prometheus', 'text/plain'),
      '/health': documentOpenPath('Answers as long as the service runs, with the snapshot and its age in seconds'),
      '/openapi.json': documentOpenPath('This document'),
    },
    components: {
      securitySchemes: { apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' } },
      schemas: {
        ...Object.fromEntries(pipelines.map((pipeline) => [schemaName(pipeline), documentRecord(pipeline)])),
        Problem: problemSchema,
      },
    },
  };
}

function documentEndpoint(pipeline: AnyPipeline, { maxLimit, rateLimit }: DocumentOptions): Json {
  const parameters = Object.values(parametersOf(pipeline, maxLimit)).map(({ name, description, ...bounds }) => ({
    name,
    in: 'query',
    description,
    schema: { type: 'integer', ...bounds },
  }));
  return {
    operationId: `get_${pipeline.table}`,
    summary: pipeline.title,
    description: pipeline.comment,
    security: [{ apiKey: [] }],
    parameters,
    responses: {
      200: {
        description:
          'The records, in a fixed order. The ETag changes with them; Last-Modified says when they last did.',
        content: { 'application/json': { schema: documentEnvelope(pipeline) } },
      },
      304: { description: 'The copy whose ETag the client gave in If-None-Match is still good.' },
      ...documentProblems({
        400: 'A parameter is unknown, repeated or not allowed; `parameter` names it.',
        401: 'The key is missing or not accepted.',
        ...(rateLimit !== undefined && {
          429: `The key was used more than ${rateLimit} times in a minute; Retry-After says how many seconds to wait.`,
        }),
        500: 'The service failed.',
        503: 'Too many requests are under way; Retry-After says how many seconds to wait.',
        default: 'Any other error.',
      }),
    },
  };
}

function documentTables(): Json {
  return {
    operationId: 'get_table',
    summary: 'A whole table or view of the snapshot as a file',
    security: [{ apiKey: [] }],
    parameters: [
      {
        name: 'file',
        in: 'path',
        required: true,
        description: `Name of the table and its format: ${tableFormats.map((format) => `NAME.${format}`).join(', ')}.`,
        schema: { type: 'string' },
      },
    ],
    responses: {
      200: { description: 'The table. The ETag changes with its rows.' },
      304: { description: 'The copy whose ETag the client gave in If-None-Match is still good.' },
      ...documentProblems({
        401: 'The key is missing or not accepted.',
        404: 'There is no such table, or the service has no snapshot.',
        503: 'Too many CSV and Arrow tables are being made; Retry-After says how many seconds to wait.',
        505: 'CSV and Arrow tables need HTTP/1.1.',
        default: 'Any other error.',
      }),
    },
  };
}

function documentOpenPath(summary: string, type = 'application/json'): Json {
  const content = { [type]: { schema: { type: type === 'application/json' ? 'object' : 'string' } } };
  const responses = { 200: { description: `${summary}.`, content }, ...documentProblems({ default: 'Any error.' }) };
  return { get: { summary, security: [], responses } };
}

function documentProblems(descriptions: Readonly<Record<string, string>>): Json {
  const content = { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } };
  return Object.fromEntries(
    Object.entries(descriptions).map(([status, description]) => [status, { description, content }]),
  );
}

function documentEnvelope(pipeline: AnyPipeline): Json {
  const record = { $ref: `#/components/schemas/${schemaName(pipeline)}` };
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
function documentRecord({ title, comment, columns }: AnyPipeline): Json {
  const fields = Object.values(columns).map((column) => [
    column.field,
    {
      type: column.kind === 'count' ? ['string', 'null'] : 'string',
      description: column.kind === 'text' ? column.comment : `${column.comment} Decimal digits.`,
    },
  ]);
  const description = `${comment} Values that the source left out, left empty or malformed are passed on as they came.`;
  return { type: 'object', title, description, properties: Object.fromEntries(fields) as Json };
}

/** `voting_rights_users` has records of the schema VotingRightsUsersRecord. */
function schemaName({ table }: AnyPipeline): string {
  return `${table.replaceAll(/(?:^|_)(.)/g, (_match, letter: string) => letter.toUpperCase())}Record`;
}

const text: Json = { type: 'string' };
const problemSchema: Json = {
  type: 'object',
  description: 'Problem details (RFC 9457); `instance` is the path, `parameter` the query parameter that is wrong.',
  required: ['type', 'title', 'status', 'detail'],
  properties: { type: text, title: text, status: { type: 'integer' }, detail: text, instance: text, parameter: text },
};
