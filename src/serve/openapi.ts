/** Writes the OpenAPI 3.1 document of the service from the pipelines it serves. */

import type { AnyPipeline } from '../pipeline.ts';
import { parametersOf } from './data-endpoint.ts';
import { documentEnvelope, documentRecord, type Json, schemaName } from './openapi-records.ts';
import { maxSqlUrlLength, queryRows, queryTimeout } from './limits.ts';
import { tableFormats } from './served-site.ts';

interface DocumentOptions {
  readonly pipelines: readonly AnyPipeline[];
  readonly maxLimit: number;
  readonly rateLimit?: number | undefined;
  /** Undefined if the service answers no SQL. */
  readonly sql?: object | undefined;
  /** If true, tables and SQL need no key while the sample is served. */
  readonly openSample?: boolean | undefined;
}

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
      '/tables': { get: documentTablesPage(options) },
      '/tables/{file}': { get: documentTables(options) },
      ...(options.sql !== undefined && documentSql(options)),
      '/': documentOpenPath('A page for a browser; for a program, where this document is'),
      '/docs': documentOpenPath('This reference as a page', 'text/html'),
      '/dictionary': documentOpenPath('Every table and column of the snapshot, as a page', 'text/html'),
      '/report': documentOpenPath('The report of the snapshot, with the links of the other pages', 'text/html'),
      '/report.html': documentOpenPath('The report of the snapshot as it was published', 'text/html'),
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

function securityOf({ openSample }: DocumentOptions): Json[] {
  return [...(openSample === true ? [{}] : []), { apiKey: [] }];
}

function documentTablesPage(options: DocumentOptions): Json {
  const summary = 'Every table and view with its number of rows, its first rows and its downloads, as a page';
  return {
    operationId: 'get_tables',
    summary,
    security: securityOf(options),
    responses: {
      200: { description: `${summary}.`, content: { 'text/html': { schema: text } } },
      ...documentProblems({
        401: 'The key is missing or not accepted; a browser gets a page.',
        404: 'The service has no snapshot.',
        default: 'Any other error.',
      }),
    },
  };
}

/** The three paths of SQL. */
function documentSql(options: DocumentOptions): Json {
  const describe = (operationId: string, summary: string, content: Json, required: boolean, more: string): Json => ({
    get: {
      operationId,
      summary,
      description: `${summary}. The statement is one that reads, in the SQL of DuckDB. ${more}`,
      security: securityOf(options),
      parameters: [
        {
          name: 'sql',
          in: 'query',
          required,
          description: `The statement, such as \`SELECT 1\`. The URL may have ${maxSqlUrlLength} characters.`,
          schema: text,
        },
      ],
      responses: {
        200: { description: 'The rows.', content },
        ...documentProblems({
          400: 'The parameter is missing, unknown or repeated.',
          401: 'The key is missing or not accepted.',
          403: 'The request comes from a page or link of another site.',
          413: 'The query needs too much memory, or its result is too long.',
          421: 'The service listens on this machine only, and Host names another one.',
          422: `DuckDB refuses the query, it was not done after ${queryTimeout / 1000} s, or it crashed.`,
          503: 'Too many queries are running; Retry-After says how many seconds to wait.',
          default: 'Any other error.',
        }),
      },
    },
  });
  const first = `Only the first ${queryRows} rows are given;`;
  const result = {
    type: 'object',
    required: ['ok', 'truncated', 'columns', 'rows'],
    properties: {
      ok: { const: true },
      truncated: { type: 'boolean', description: `True if there are more than ${queryRows} rows.` },
      columns: { type: 'array', items: { type: 'object', properties: { name: text, type: text } } },
      rows: { type: 'array', items: { type: 'object', description: 'Values by the names of their columns.' } },
    },
  };
  return {
    '/sql': describe(
      'get_sql_page',
      'A form for SQL and the result',
      { 'text/html': { schema: text } },
      false,
      `${first} the page says so.`,
    ),
    '/sql.json': describe(
      'get_sql',
      'The result of SQL as JSON',
      { 'application/json': { schema: result } },
      true,
      `${first} \`truncated\` says so.`,
    ),
    '/sql.csv': describe(
      'get_sql_csv',
      'The result of SQL as CSV',
      { 'text/csv': { schema: text } },
      true,
      `A result of more than ${queryRows} rows gets 413, because CSV cannot say that it is truncated.`,
    ),
  };
}

function documentTables(options: DocumentOptions): Json {
  return {
    operationId: 'get_table',
    summary: 'A whole table or view of the snapshot as a file',
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

const text: Json = { type: 'string' };
const problemSchema: Json = {
  type: 'object',
  description: 'Problem details (RFC 9457); `instance` is the path, `parameter` the query parameter that is wrong.',
  required: ['type', 'title', 'status', 'detail'],
  properties: { type: text, title: text, status: { type: 'integer' }, detail: text, instance: text, parameter: text },
};
