/** Writes the OpenAPI 3.1 document of the service from the pipelines it serves. */

import type { AnyPipeline, Auth, Project } from '../project/declaration.ts';
import { parametersOf } from './selection.ts';
import { documentContent, documentRecord, type Json, schemaName } from './openapi-records.ts';
import { maxSqlUrlLength, queryRows, queryTimeout } from './limits.ts';
import { tableFormats } from './served-site.ts';

interface DocumentOptions {
  readonly pipelines: readonly AnyPipeline[];
  readonly about: Pick<Project, 'title' | 'description' | 'auth'>;
  readonly maxLimit: number;
  readonly rateLimit?: number | undefined;
  readonly sql?: object | undefined;
  /** If true, tables and SQL need no key while the sample is served. */
  readonly openSample?: boolean | undefined;
}

export function documentService(options: DocumentOptions): Json {
  const { pipelines, about } = options;
  return {
    openapi: '3.1.0',
    info: {
      title: about.title,
      version: '1.0.0',
      description: `${about.description.replace(/\.?$/, '.')} Every path also supports HEAD.`,
    },
    paths: {
      ...Object.fromEntries(pipelines.map((pipeline) => [pipeline.path, { get: documentEndpoint(pipeline, options) }])),
      '/tables': { get: documentTablesPage(options) },
      '/tables/{file}': { get: documentTables(options) },
      ...(options.sql !== undefined && documentSql(options)),
      '/': documentOpenPath('Start page for a browser, or links to this document for a program'),
      '/docs': documentOpenPath('API reference, as a page', 'text/html'),
      '/dictionary': documentOpenPath('Every table and column of the snapshot, as a page', 'text/html'),
      '/report': documentOpenPath('Report of the snapshot, with links to the other pages', 'text/html'),
      '/report.html': documentOpenPath('Report of the snapshot, as published', 'text/html'),
      '/metrics': documentOpenPath('Metrics of the syncs and pushes, in the Prometheus text format', 'text/plain'),
      '/health': documentOpenPath('Health check, with the snapshot and its age in seconds'),
      '/openapi.json': documentOpenPath('OpenAPI document'),
    },
    components: {
      ...(about.auth !== null && { securitySchemes: { apiKey: describeAuth(about.auth) } }),
      schemas: {
        ...Object.fromEntries(pipelines.map((pipeline) => [schemaName(pipeline), documentRecord(pipeline)])),
        Problem: problemSchema,
      },
    },
  };
}

function documentEndpoint(pipeline: AnyPipeline, options: DocumentOptions): Json {
  const { maxLimit, rateLimit } = options;
  const { partition, size, position, fixed } = parametersOf(pipeline, maxLimit);
  const parameters = [partition, size, position, ...fixed].flatMap((parameter) => {
    if (parameter === null) return [];
    const { name, description, ...bounds } = parameter;
    const schema = 'minimum' in parameter ? { type: 'integer', ...bounds } : { type: 'string' };
    return [{ name, in: 'query', description, schema }];
  });
  return {
    operationId: `get_${pipeline.table}`,
    summary: pipeline.title,
    description: pipeline.comment,
    security: options.about.auth === null ? [] : [{ apiKey: [] }],
    parameters,
    responses: {
      200: {
        description: 'The records, in a fixed order. When they change, the ETag and Last-Modified change.',
        content: documentContent(pipeline),
      },
      304: { description: 'Not modified: the ETag in If-None-Match is current.' },
      ...documentProblems({
        400: 'A parameter is unknown, repeated or invalid. `parameter` names it.',
        401: 'The key is missing or not accepted.',
        ...(rateLimit !== undefined && {
          429: `The key exceeded ${rateLimit} requests per minute. Retry after the number of seconds in Retry-After.`,
        }),
        500: 'The service failed to process the request.',
        503: 'Too many requests are in progress. Retry after the number of seconds in Retry-After.',
        default: 'Any other error.',
      }),
    },
  };
}

function describeAuth(auth: Auth): Json {
  if ('bearer' in auth) return { type: 'http', scheme: 'bearer' };
  if ('basic' in auth) return { type: 'http', scheme: 'basic' };
  if ('query' in auth) return { type: 'apiKey', in: 'query', name: auth.query };
  return { type: 'apiKey', in: 'header', name: auth.header };
}

function securityOf({ openSample, about }: DocumentOptions): Json[] {
  if (about.auth === null) return [];
  return [...(openSample === true ? [{}] : []), { apiKey: [] }];
}

function documentTablesPage(options: DocumentOptions): Json {
  const summary = 'Every table and view with its number of rows, first rows and downloads, as a page';
  return {
    operationId: 'get_tables',
    summary,
    security: securityOf(options),
    responses: {
      200: { description: `${summary}.`, content: { 'text/html': { schema: text } } },
      ...documentProblems({
        401: 'The key is missing or not accepted. For a browser, the response is a page.',
        404: 'The service has no snapshot.',
        default: 'Any other error.',
      }),
    },
  };
}

function documentSql(options: DocumentOptions): Json {
  const describe = (operationId: string, summary: string, content: Json, required: boolean, more: string): Json => ({
    get: {
      operationId,
      summary,
      description: `${summary}. The statement must be read-only, in the SQL dialect of DuckDB. ${more}`,
      security: securityOf(options),
      parameters: [
        {
          name: 'sql',
          in: 'query',
          required,
          description: `The statement, such as SELECT 1. The URL can have up to ${maxSqlUrlLength} characters.`,
          schema: text,
        },
      ],
      responses: {
        200: { description: 'The rows.', content },
        ...documentProblems({
          400: 'The parameter is missing, unknown or repeated.',
          401: 'The key is missing or not accepted.',
          403: 'The request comes from a page or link of another site.',
          413: 'The query needs too much memory, or its result is too large.',
          421: 'The service accepts SQL from this machine only, and Host names another machine.',
          422: `DuckDB rejects the query, or the query crashed or took longer than ${queryTimeout / 1000} s.`,
          503: 'Too many queries are running. Retry after the number of seconds in Retry-After.',
          default: 'Any other error.',
        }),
      },
    },
  });
  const first = `The response has at most ${queryRows} rows.`;
  const result = {
    type: 'object',
    required: ['ok', 'truncated', 'columns', 'rows'],
    properties: {
      ok: { const: true },
      truncated: { type: 'boolean', description: `True if there are more than ${queryRows} rows.` },
      columns: { type: 'array', items: { type: 'object', properties: { name: text, type: text } } },
      rows: { type: 'array', items: { type: 'object', description: 'Values by column name.' } },
    },
  };
  return {
    '/sql': describe(
      'get_sql_page',
      'Form for an SQL query, and its result, as a page',
      { 'text/html': { schema: text } },
      false,
      `${first} The page shows whether there are more.`,
    ),
    '/sql.json': describe(
      'get_sql',
      'Result of an SQL query, as JSON',
      { 'application/json': { schema: result } },
      true,
      `${first} \`truncated\` is true if there are more.`,
    ),
    '/sql.csv': describe(
      'get_sql_csv',
      'Result of an SQL query, as CSV',
      { 'text/csv': { schema: text } },
      true,
      `If the result has more than ${queryRows} rows, the status is 413, because CSV cannot show that it is truncated.`,
    ),
  };
}

function documentTables(options: DocumentOptions): Json {
  return {
    operationId: 'get_table',
    summary: 'Complete table or view of the snapshot as a file',
    security: securityOf(options),
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
      304: { description: 'Not modified: the ETag in If-None-Match is current.' },
      ...documentProblems({
        401: 'The key is missing or not accepted.',
        404: 'The table does not exist, or the service has no snapshot.',
        503: 'Too many CSV and Arrow tables are in progress. Retry after the number of seconds in Retry-After.',
        505: 'CSV and Arrow tables require HTTP/1.1.',
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

const text: Json = { type: 'string' };
const problemSchema: Json = {
  type: 'object',
  description: 'Problem details (RFC 9457); `instance` is the path. `parameter` is the invalid query parameter.',
  required: ['type', 'title', 'status', 'detail'],
  properties: { type: text, title: text, status: { type: 'integer' }, detail: text, instance: text, parameter: text },
};
