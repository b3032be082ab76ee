/** Serves SQL over HTTP: one read-only statement, as a page with a form, as JSON and as CSV. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Html } from '../runtime/html.ts';
import { jsonType } from './data-endpoint.ts';
import { queryRows } from './limits.ts';
import { Problem } from './problem.ts';
import type { RunQuery, QueryRows, QueryFormat } from './query-processes.ts';
import { type Outcome, sqlPage } from './table-pages.ts';

export interface SqlOptions {
  readonly answer: RunQuery;
  /** If true, requests must name this machine in Host, because the service listens on loopback. */
  readonly onlyLoopback: boolean;
}

interface SqlRoutes extends SqlOptions {
  /** Responds or throws if the request needs a key and has none. */
  readonly requireKey: (request: FastifyRequest, reply: FastifyReply) => FastifyReply | undefined;
  readonly prefersHtml: (request: FastifyRequest) => boolean;
  readonly sendPage: (reply: FastifyReply, text: string) => FastifyReply;
  readonly bar: Html;
  readonly tables: () => Promise<readonly string[]>;
}

export function isSql(path: string): boolean {
  return /^\/sql(\.\w+)?$/.test(path);
}

export function addSql(app: FastifyInstance, options: SqlRoutes): void {
  const route = (url: string, handler: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>): void =>
    void app.route({
      method: ['GET', 'HEAD'],
      url,
      onRequest: async (request, reply) => {
        reply.headers({ 'cache-control': 'no-store', 'cross-origin-resource-policy': 'same-origin', vary: 'accept' });
        refuseOtherPages(request, options.onlyLoopback);
        return options.requireKey(request, reply);
      },
      handler,
    });
  const runSql = (request: FastifyRequest, reply: FastifyReply, format: QueryFormat): Promise<QueryRows> =>
    options.answer(requireSql(request), format, closeSignal(reply));

  route('/sql', async (request, reply) => {
    const sql = readSql(request);
    if (sql === '') return options.sendPage(reply, sqlPage(options.bar, '', null, await options.tables()));
    const outcome = await runSql(request, reply, 'json').then(readOutcome, (error: unknown) => {
      if (!(error instanceof Problem) || !options.prefersHtml(request)) throw error;
      reply.code(error.status).headers(error.extras.headers ?? {});
      return error.message;
    });
    return options.sendPage(reply, sqlPage(options.bar, sql, outcome, await options.tables()));
  });
  route('/sql.json', async (request, reply) => {
    const { columns, text, truncated } = await runSql(request, reply, 'json');
    const head = JSON.stringify({ ok: true, truncated, columns }).slice(0, -1);
    return reply.header('content-type', jsonType).send(`${head},"rows":${text.trimEnd()}}\n`);
  });
  route('/sql.csv', async (request, reply) => {
    const { text, truncated } = await runSql(request, reply, 'csv');
    // CSV can't show that rows are missing.
    if (truncated)
      throw new Problem(
        413,
        `The result has more than ${queryRows} rows. Add a LIMIT, or use /sql.json, which shows that it is truncated. For complete tables, use /tables/NAME.csv.`,
        { parameter: 'sql' },
      );
    return reply.header('content-type', 'text/csv; charset=utf-8').send(text);
  });
}

/** Refuses requests from pages of other origins. With DNS rebinding, such a page's host name resolves to 127.0.0.1 and is in Host. */
function refuseOtherPages({ headers }: FastifyRequest, onlyLoopback: boolean): void {
  const { host = '', origin, 'sec-fetch-site': site = 'none' } = headers;
  if (onlyLoopback && !/^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i.test(host))
    throw new Problem(
      421,
      'SQL is available on this machine only. Use the address that the service printed, such as 127.0.0.1.',
    );
  const isOwn = origin === undefined || (URL.canParse(origin) && new URL(origin).host === host.toLowerCase());
  if (!isOwn || (site !== 'none' && site !== 'same-origin'))
    throw new Problem(403, 'Pages and links of other sites cannot use SQL here. Open /sql in the address bar.');
}

function readSql({ query }: FastifyRequest): string {
  const values = new Map<string, unknown>(Object.entries(query ?? {}));
  const unknown = [...values.keys()].find((name) => name !== 'sql');
  if (unknown !== undefined) {
    const parameter = unknown.slice(0, 40);
    throw new Problem(400, `Unknown parameter ${JSON.stringify(parameter)}. The only parameter is sql.`, { parameter });
  }
  const sql = values.get('sql') ?? '';
  if (typeof sql !== 'string')
    throw new Problem(400, 'The parameter sql is repeated. Send it once.', { parameter: 'sql' });
  return sql.trim();
}

function requireSql(request: FastifyRequest): string {
  const sql = readSql(request);
  if (sql !== '') return sql;
  throw new Problem(400, 'The parameter sql is missing. It must contain one statement, such as SELECT 1.', {
    parameter: 'sql',
  });
}

/** Returns a signal that aborts when the connection closes before the response is complete. */
function closeSignal(reply: FastifyReply): AbortSignal {
  const closing = new AbortController();
  reply.raw.once('close', () => closing.abort(new Problem(499, 'The client closed the connection.')));
  return closing.signal;
}

function readOutcome({ columns, text, truncated }: QueryRows): Outcome {
  return { columns, truncated, rows: JSON.parse(text) as Outcome['rows'] };
}
