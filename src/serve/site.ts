/** Serves what isn't a data endpoint: a start page, the API reference, what monitors read, and the files of the snapshot. */

import { createHash } from 'node:crypto';
import { fastifySwaggerUi } from '@fastify/swagger-ui';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { renderMetrics } from '../notify/metrics.ts';
import type { Project } from '../project/declaration.ts';
import { Html, html } from '../runtime/html.ts';
import { countOf, formatAge } from '../runtime/text.ts';
import { summarizeRuns } from '../snapshots/freshness.ts';
import { createRunsReader } from '../warehouse/runs-log.ts';
import { databaseFile, parquetPath, sampleNotice } from '../warehouse/snapshot-format.ts';
import type { Snapshot } from '../warehouse/warehouse.ts';
import { jsonType } from './data-endpoint.ts';
import { addSnapshotFiles, type FilesOptions, noSnapshot } from './snapshot-files.ts';

export interface SiteOptions extends FilesOptions {
  readonly now?: (() => Date) | undefined;
}

interface SiteContext extends SiteOptions {
  readonly about: Pick<Project, 'title' | 'description'>;
  /** @throws Problem 401 */
  readonly requireKey: (request: FastifyRequest) => void;
}

const style = `:root { color-scheme: light dark; background: light-dark(#fff, #16181a); color: light-dark(#1d1d1b, #ecebe6); } a { color: light-dark(#0b57a4, #8ab4f8); } body { max-width: 60rem; margin: 0 auto; padding: 1rem 1rem 4rem; font: 16px/1.5 system-ui, sans-serif; }
table { border-collapse: collapse; } caption, th, td { text-align: left; padding: .25rem 1.5rem .25rem 0; font-weight: 400; } td.number { text-align: right; font-variant-numeric: tabular-nums; }
pre { overflow: auto; } .scroll { overflow-x: auto; }`;

const pagePolicy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

export async function addSite(app: FastifyInstance, context: SiteContext): Promise<void> {
  const { about, published, now = () => new Date() } = context;
  const open = (url: string, handler: (request: FastifyRequest, reply: FastifyReply) => unknown): void =>
    void app.route({ method: ['GET', 'HEAD'], url, schema: { hide: true }, handler });
  const sendJson = (reply: FastifyReply, value: unknown) =>
    reply.headers({ 'content-type': jsonType, 'cache-control': 'no-cache' }).send(JSON.stringify(value));
  await app.register(fastifySwaggerUi, { routePrefix: '/docs', staticCSP: true });

  open('/', (_, reply) => sendPage(reply, startPage(about, published?.snapshot() ?? null, now())));
  let document: Buffer | undefined;
  open('/openapi.json', (_, reply) => {
    // One buffer for all clients.
    document ??= Buffer.from(JSON.stringify(app.swagger()));
    return reply.headers({ 'content-type': jsonType, 'cache-control': 'no-cache' }).send(document);
  });
  open('/health', (_, reply) => {
    if (published === null) return sendJson(reply, { status: 'ok' });
    const { id, manifest } = published.snapshot();
    const age = Math.round(ageOf(published.snapshot(), now()) / 1000);
    return sendJson(reply, { status: 'ok', snapshot: id, read_at: manifest.created_at, age_seconds: age });
  });
  const readLines = published === null ? null : createRunsReader(published.warehouse);
  open('/metrics', async (_, reply) => {
    if (readLines === null) throw noSnapshot;
    reply.headers({ 'content-type': 'text/plain; version=0.0.4; charset=utf-8', 'cache-control': 'no-store' });
    return reply.send(renderMetrics(summarizeRuns(await readLines())));
  });
  await addSnapshotFiles(app, context);
}

function sendPage(reply: FastifyReply, text: string): FastifyReply {
  return reply
    .headers({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': pagePolicy,
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-cache',
    })
    .send(text);
}

function ageOf({ manifest }: Snapshot, now: Date): number {
  return Math.max(0, now.getTime() - Date.parse(manifest.created_at));
}

function startPage({ title, description }: SiteContext['about'], snapshot: Snapshot | null, now: Date): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <link rel="icon" href="data:," />
        <style>
          ${new Html(style)}
        </style>
      </head>
      <body>
        <h1>${title}</h1>
        <p>${description}</p>
        <p>
          The endpoints return JSON and require a key. The <a href="/docs">API reference</a> describes them, and
          <a href="/openapi.json">openapi.json</a> is for programs.
        </p>
        ${snapshot === null ? html`<p>The records come from files, not from a snapshot.</p>` : describeSnapshot(snapshot, now)}
      </body>
    </html> `.text;
}

function describeSnapshot(snapshot: Snapshot, now: Date): Html {
  const { id, manifest } = snapshot;
  const notice = sampleNotice(manifest);
  const rows = manifest.files.flatMap(({ path, rows: count }) => {
    const [, name = ''] = /^parquet\/(\w+)\//.exec(path) ?? [];
    return path === parquetPath(name) && count !== null ? [{ name, count }] : [];
  });
  return html`<p>
      Snapshot ${id}, read from ${manifest.source === 'sample' ? 'the sample' : manifest.source},
      ${formatAge(ageOf(snapshot, now))} ago: <a href="/report">its report</a>.
    </p>
    ${notice === null ? null : html`<p><strong>${notice}</strong></p>`}
    <div class="scroll" tabindex="0" role="region" aria-label="Tables">
      <table>
        <caption>
          The tables, and all of them as
          <a href="/current/${databaseFile}">${databaseFile}</a>
        </caption>
        <tbody>
          ${rows.map(
            ({ name, count }) =>
              html`<tr>
                <th scope="row">${name}</th>
                <td class="number">${countOf(count, 'row')}</td>
                <td><a href="/current/${name}.parquet">Parquet</a></td>
                <td><a href="/current/${name}.csv">CSV</a></td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>`;
}
