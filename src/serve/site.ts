/** Serves the pages and files other than the data endpoints, for browsers, monitors and BI tools. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AnyPipeline, Project } from '../project/declaration.ts';
import type { Html } from '../runtime/html.ts';
import { jsonType } from './data-endpoint.ts';
import { retryAfterBusy } from './limits.ts';
import { addNavigation, navigation, pagePolicy, reportPolicy } from './layout.ts';
import { dictionaryPage, docsPage, homePage } from './render-pages.ts';
import { Problem } from './problem.ts';
import { type ServedSite, tableFormats } from './served-site.ts';
import { addSql, type SqlOptions } from './sql-endpoint.ts';
import { keyPage, tablesPage } from './table-pages.ts';

interface SiteOptions {
  readonly pipelines: readonly AnyPipeline[];
  readonly about: Pick<Project, 'title' | 'description' | 'auth'>;
  readonly site?: ServedSite | undefined;
  readonly sql?: SqlOptions | undefined;
  readonly document: Readonly<Record<string, unknown>>;
  readonly now: () => Date;
  /** Receives the error of a table whose response was cut off. */
  readonly onFailure: ((error: unknown) => void) | undefined;
  readonly requireKey: (request: FastifyRequest) => void;
  /** If true, tables and SQL need no key as long as they are the sample's. */
  readonly openSample: boolean;
}

const noSnapshot =
  'This service has records, but no snapshot. For tables, run "rekap sync --sample" and "rekap serve --warehouse data/warehouse".';

export function addSite(app: FastifyInstance, options: SiteOptions): void {
  const { pipelines, about, site, sql, document, now } = options;
  const open = (url: string, handler: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>): void =>
    void app.route({ method: ['GET', 'HEAD'], url, config: { rateLimit: false }, handler });
  const json = (reply: FastifyReply, value: unknown) =>
    reply.headers({ 'content-type': jsonType, 'cache-control': 'no-cache' }).send(JSON.stringify(value));
  const requireSite = (): ServedSite => {
    if (site === undefined) throw new Problem(404, noSnapshot);
    return site;
  };
  const bar = (current: string): Html =>
    navigation({ snapshot: site !== undefined, sql: site !== undefined && sql !== undefined }, current);
  const isOpen = (): boolean => options.openSample && site?.snapshot().source === 'sample';
  const requireKey = (request: FastifyRequest, reply: FastifyReply): FastifyReply | undefined => {
    if (isOpen()) return undefined;
    try {
      options.requireKey(request);
      return undefined;
    } catch (error) {
      if (!(error instanceof Problem) || !prefersHtml(request)) throw error;
      const url = baseOf(request) + (request.raw.url ?? '/').replaceAll("'", '%27');
      reply.code(error.status).headers({ ...error.extras.headers, vary: 'accept' });
      return page(reply, keyPage(bar(''), url));
    }
  };

  open('/', async (request, reply) => {
    reply.header('vary', 'accept');
    return prefersHtml(request)
      ? page(reply, homePage(bar('/'), { pipelines, about, snapshot: site?.snapshot() ?? null, now: now() }))
      : json(reply, { service: about.title, openapi: '/openapi.json', docs: '/docs' });
  });
  open('/health', async (_, reply) => json(reply, { status: 'ok', ...describeAge(site, now()) }));
  const openapi = Buffer.from(JSON.stringify(document));
  const docs = Buffer.from(docsPage(bar('/docs'), document));
  open('/openapi.json', async (_, reply) =>
    reply.headers({ 'content-type': jsonType, 'cache-control': 'no-cache' }).send(openapi),
  );
  open('/docs', async (_, reply) => page(reply, docs));
  const readReport = async (): Promise<Buffer> => {
    const report = await requireSite().report();
    if (report === null) throw new Problem(404, 'The snapshot has no report.');
    return report;
  };
  open('/report', async (_, reply) =>
    page(reply, addNavigation((await readReport()).toString(), bar('/report')), reportPolicy),
  );
  open('/report.html', async (_, reply) => page(reply, await readReport(), reportPolicy));
  open('/metrics', async (_, reply) => {
    const text = await requireSite().metrics();
    return reply
      .headers({ 'content-type': 'text/plain; version=0.0.4; charset=utf-8', 'cache-control': 'no-store' })
      .send(text);
  });
  open('/dictionary', async (request, reply) => {
    const visitor = { base: baseOf(request), isOpen: isOpen() };
    return page(reply, dictionaryPage(bar('/dictionary'), await requireSite().dictionary(), visitor));
  });
  const guarded = (url: string, handler: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>) =>
    app.route({
      method: ['GET', 'HEAD'],
      url,
      onRequest: async (request, reply) => requireKey(request, reply),
      handler,
    });
  guarded('/tables/:file', async (request, reply) => sendTable(options, request, reply));
  guarded('/tables', async (request, reply) => {
    const visitor = { base: baseOf(request), isOpen: isOpen() };
    const text = tablesPage(bar('/tables'), await requireSite().previews(), visitor, sql !== undefined);
    return page(reply.header('vary', 'accept'), text);
  });
  if (site === undefined || sql === undefined) return;
  const tables = async () => (await site.dictionary()).map(({ name }) => name);
  addSql(app, { ...sql, requireKey, prefersHtml, sendPage: page, bar: bar('/sql'), tables });
}

function prefersHtml({ headers }: FastifyRequest): boolean {
  return /text\/html/.test(headers.accept ?? '');
}

function page(reply: FastifyReply, text: string | Buffer, policy = pagePolicy): FastifyReply {
  return reply
    .headers({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy,
      'referrer-policy': 'no-referrer',
      'cache-control': reply.getHeader('cache-control') ?? 'no-cache',
    })
    .send(text);
}

/** Returns the base URL as the client sees it, for commands to copy. */
function baseOf({ headers }: FastifyRequest): string {
  const scheme = headers['x-forwarded-proto'] === 'https' ? 'https' : 'http';
  const host = /^([\w.-]+|\[[\da-f:.]+\])(:\d+)?$/i.test(headers.host ?? '') ? headers.host : 'HOST';
  return `${scheme}://${host}`;
}

function describeAge(site: ServedSite | undefined, now: Date): object {
  if (site === undefined) return {};
  const { id, readAt } = site.snapshot();
  const age = Math.max(0, Math.round((now.getTime() - readAt.getTime()) / 1000));
  return { snapshot: id, read_at: readAt.toISOString(), age_seconds: age };
}

async function sendTable(
  { site, onFailure }: SiteOptions,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  if (site === undefined) throw new Problem(404, noSnapshot);
  const { file } = request.params as { file: string };
  const [, name = '', ending = ''] = /^(\w+)\.(\w+)$/.exec(file) ?? [];
  const format = tableFormats.find((known) => known === ending);
  const table = format === undefined ? null : await site.table(name, format);
  if (table === null)
    throw new Problem(
      404,
      `The table does not exist. /dictionary lists all tables. The extension must be one of ${tableFormats.join(', ')}.`,
    );
  const etag = `"${table.etag}"`;
  const caching = { etag, 'cache-control': 'private, no-cache' };
  const known = request.headers['if-none-match'];
  if (known === '*' || known?.includes(etag) === true) return reply.code(304).headers(caching).send();
  // HTTP/1.0 ends a body by closing the connection, so a truncated table would look complete.
  if (table.bytes === null && request.raw.httpVersion === '1.0')
    throw new Problem(
      505,
      'CSV and Arrow tables require HTTP/1.1. If there is a proxy, configure it to use HTTP/1.1 (in nginx: proxy_http_version).',
    );
  const stream = request.method === 'HEAD' ? undefined : await table.open();
  if (stream === null)
    throw new Problem(503, 'Too many tables are in progress. Retry after the number of seconds in Retry-After.', {
      headers: { 'retry-after': String(retryAfterBusy) },
    });
  reply.headers({
    ...caching,
    'content-type': table.type,
    'content-disposition': `attachment; filename="${name}.${ending}"`,
  });
  // The response has started, so only the log can contain the reason.
  stream?.once('error', (error) => onFailure?.(error));
  if (table.bytes !== null) reply.header('content-length', table.bytes);
  return reply.send(stream);
}
