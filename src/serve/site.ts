/** Serves what isn't a data endpoint: a start page, the API reference, what monitors read, and the files of the snapshot. */

import { fastifySwaggerUi } from '@fastify/swagger-ui';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { renderMetrics } from '../notify/metrics.ts';
import { type Html, html, table } from '../runtime/html.ts';
import { countOf, formatAge, formatNumber, formatSeconds } from '../runtime/text.ts';
import { judgeStatus, summarizeRuns } from '../snapshots/freshness.ts';
import { describeReadings } from '../warehouse/describe-reading.ts';
import { createRunsReader, type RunLine } from '../warehouse/runs-log.ts';
import { databaseFile, parquetPath, sampleNotice } from '../warehouse/snapshot-format.ts';
import type { Snapshot } from '../warehouse/warehouse.ts';
import { jsonType } from './data-endpoint.ts';
import type { About } from './openapi.ts';
import { framePage, readOnly, sendPage } from './page.ts';
import { addSnapshotFiles, type FilesContext, noSnapshot } from './snapshot-files.ts';
import { addTablePages } from './table-pages.ts';

export interface SiteOptions {
  /** The snapshot whose files are served, and its warehouse. Null if the records don't come from a snapshot. */
  readonly published: { readonly warehouse: string; readonly snapshot: () => Snapshot } | null;
  /** If true, files need no key as long as the snapshot comes from the sample. Leave it out if you have given out keys. */
  readonly openSample?: boolean | undefined;
  readonly now?: (() => Date) | undefined;
}

/** Runs on the page of runs. */
const maxRuns = 100;

interface SiteContext extends SiteOptions {
  readonly about: About;
  /** @throws Problem 401 */
  readonly requireKey: (request: FastifyRequest) => void;
}

export async function addSite(app: FastifyInstance, context: SiteContext): Promise<void> {
  const { about, published, openSample, requireKey, now = () => new Date() } = context;
  const open = (url: string, handler: (request: FastifyRequest, reply: FastifyReply) => unknown): void =>
    void app.route({ ...readOnly, url, handler });
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
    const health = { status: 'ok', snapshot: id, read_at: manifest.created_at, age_seconds: age };
    const notes = describeReadings(manifest.datasets);
    return sendJson(reply, notes.length > 0 ? { ...health, notes } : health);
  });
  const readLines = published === null ? null : createRunsReader(published.warehouse);
  open('/metrics', async (_, reply) => {
    if (readLines === null) throw noSnapshot;
    reply.headers({ 'content-type': 'text/plain; version=0.0.4; charset=utf-8', 'cache-control': 'no-store' });
    return reply.send(renderMetrics(summarizeRuns(await readLines())));
  });
  open('/runs', async (_, reply) => {
    if (readLines === null) throw noSnapshot;
    return sendPage(reply, runsPage(await readLines(), now()));
  });
  const requireSnapshot = (): Snapshot => {
    if (published === null) throw noSnapshot;
    return published.snapshot();
  };
  const files: FilesContext = {
    requireSnapshot,
    requireFile(request) {
      if (openSample !== true || published?.snapshot().manifest.source !== 'sample') requireKey(request);
    },
  };
  await addSnapshotFiles(app, files);
  addTablePages(app, about.auth, files);
}

function ageOf({ manifest }: Snapshot, now: Date): number {
  return Math.max(0, now.getTime() - Date.parse(manifest.created_at));
}

function startPage({ title, description }: About, snapshot: Snapshot | null, now: Date): string {
  return framePage(
    title,
    html`<h1>${title}</h1>
      <p>${description}</p>
      <p>
        The endpoints return JSON and require a key. The <a href="/docs">API reference</a> describes them, and
        <a href="/openapi.json">openapi.json</a> is for programs.
      </p>
      ${snapshot === null ? html`<p>The records come from files, not from a snapshot.</p>` : describeSnapshot(snapshot, now)}`,
  );
}

/** Lists the newest runs, and says how old the data is. */
function runsPage(lines: readonly RunLine[], now: Date): string {
  const { newestSuccess: success, newestPublished } = judgeStatus(lines, now, 0);
  const since = ({ started_at: at }: RunLine): string => formatAge(Math.max(0, now.getTime() - Date.parse(at)));
  const rows = lines.slice(-maxRuns).toReversed();
  return framePage(
    'Runs',
    html`<p><a href="/">Start</a></p>
      <h1>Runs</h1>
      <p>
        ${success === null ? 'No sync has succeeded.' : `The source was last read completely ${since(success)} ago.`}
        ${newestPublished === null ? null : `It last had something new ${since(newestPublished)} ago.`}
      </p>
      ${table(
        rows.map((line) => [
          html`<time datetime="${line.started_at}">${line.started_at.slice(0, 16).replace('T', ' ')}</time>`,
          line.kind,
          html`<span class="${line.exit_code === 0 ? '' : 'bad'}">${line.outcome}</span>`,
          formatSeconds(Date.parse(line.finished_at) - Date.parse(line.started_at)),
          formatNumber(line.requests),
          line.snapshot ?? '–',
          line.reason,
        ]),
        {
          caption: lines.length > maxRuns ? `The newest ${maxRuns} of ${formatNumber(lines.length)} runs` : 'All runs',
          head: ['Started (UTC)', 'Kind', 'Outcome', 'Took', 'Requests', 'Snapshot', 'Reason'],
          numbers: [3, 4],
        },
      )}`,
    'wide',
  );
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
      ${formatAge(ageOf(snapshot, now))} ago: <a href="/report">its report</a>, and <a href="/runs">all runs</a>.
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
                <th scope="row"><a href="/tables/${name}">${name}</a></th>
                <td class="number">${countOf(count, 'row')}</td>
                <td><a href="/current/${name}.parquet">Parquet</a></td>
                <td><a href="/current/${name}.csv">CSV</a></td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>`;
}
