/** Serves a page per table: its rows from DuckDB, sorted and filtered, and the same as CSV and as a workbook. */

import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { FastifyInstance, FastifyReply } from 'fastify';
import pLimit from 'p-limit';
import { isRekapError } from '../errors.ts';
import type { Project } from '../project/declaration.ts';
import { Html, html } from '../runtime/html.ts';
import { jsonValue, plainValue, type QueryResult } from '../snapshots/query/query-result.ts';
import { runQuery } from '../snapshots/query/run-query.ts';
import { writeCsvFile } from '../snapshots/query/write-result.ts';
import { writeResultWorkbook } from '../snapshots/query/write-workbook.ts';
import { readPublishedDictionary, type Relation } from '../warehouse/read-dictionary.ts';
import { databaseFile, describeManifest, parquetPath, sampleNotice } from '../warehouse/snapshot-format.ts';
import type { Snapshot } from '../warehouse/warehouse.ts';
import { jsonType } from './data-endpoint.ts';
import { tableMemory, tablesAtOnce } from './limits.ts';
import { framePage, readOnly, sendPage } from './page.ts';
import { Problem } from './problem.ts';
import type { FilesContext } from './snapshot-files.ts';
import { tableScript } from './table-script.ts';
import { defaultRows, isNumeric, readTableQuery } from './table-query.ts';

const gridFolder = dirname(createRequire(import.meta.url).resolve('datatables.net'));

export function addTablePages(
  app: FastifyInstance,
  auth: Project['auth'],
  { requireFile, requireSnapshot }: FilesContext,
): void {
  const limit = pLimit(tablesAtOnce);
  let known: { readonly id: string; readonly relations: Promise<Relation[]> } | null = null;
  const relationOf = async (snapshot: Snapshot, name: string): Promise<Relation> => {
    if (known?.id !== snapshot.id)
      known = { id: snapshot.id, relations: readPublishedDictionary(join(snapshot.folder, databaseFile)) };
    const relation = (await known.relations).find((one) => one.name === name);
    if (relation !== undefined) return relation;
    const shown = JSON.stringify(name.slice(0, 80));
    throw new Problem(404, `The snapshot has no table ${shown}. The page / lists all tables.`);
  };
  app.route({
    ...readOnly,
    url: '/assets/grid.mjs',
    handler: (_request, reply) => reply.sendFile('dataTables.min.mjs', gridFolder),
  });
  const scriptHeaders = { 'content-type': 'text/javascript; charset=utf-8', 'cache-control': 'no-cache' };
  app.route({
    ...readOnly,
    url: '/assets/table.js',
    handler: (_request, reply) => reply.headers(scriptHeaders).send(tableScript),
  });
  app.route<{ Params: { name: string } }>({
    ...readOnly,
    url: '/tables/:name',
    async handler({ params: { name } }, reply) {
      const snapshot = requireSnapshot();
      return sendPage(reply, tablePage(snapshot, await relationOf(snapshot, name), auth));
    },
  });
  app.route<{ Params: { name: string; ending: string }; Querystring: Record<string, unknown> }>({
    ...readOnly,
    url: '/tables/:name/rows.:ending',
    onRequest: async (request) => requireFile(request),
    async handler({ params: { name, ending }, query: asked }, reply) {
      const snapshot = requireSnapshot();
      const relation = await relationOf(snapshot, name);
      const { count, all, page, parameters } = readTableQuery(relation, asked);
      const stored = snapshot.manifest.files.filter(({ path }) => path === parquetPath(name));
      const parquet = new Map(stored.map(({ path }) => [name, join(snapshot.folder, path)]));
      const database = join(snapshot.folder, databaseFile);
      const settings = { parameters, parquet, memory: tableMemory };
      const run = <Value>(sql: string, use: (result: QueryResult) => Promise<Value>): Promise<Value> =>
        limit(() => runQuery(database, sql, use, settings)).catch(explainFilter);
      reply.header('cache-control', 'private, no-cache');
      if (ending === 'json') {
        const [[found] = []] = await run(count, readAll);
        const rows = await run(page, readAll);
        const body = JSON.stringify({ snapshot: snapshot.id, count: found, rows }, jsonValue);
        return reply.header('content-type', jsonType).send(body);
      }
      if (ending !== 'csv' && ending !== 'xlsx')
        throw new Problem(404, 'Rows are there as rows.json, rows.csv and rows.xlsx.');
      const type = ending === 'csv' ? 'text/csv; charset=utf-8' : workbookType;
      const about = describeManifest(snapshot.manifest);
      const write = (result: QueryResult, file: string): Promise<number> =>
        ending === 'csv' ? writeCsvFile(result, file) : writeResultWorkbook(result, about, file);
      const disposition = `attachment; filename="${name}-${snapshot.id}.${ending}"`;
      reply.headers({ 'content-type': type, 'content-disposition': disposition });
      return sendWritten(reply, (file) => run(all, (result) => write(result, file)));
    },
  });
}

const workbookType = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

/** A value of a filter can be outside the type of its column. */
function explainFilter(error: unknown): never {
  if (isRekapError(error, 'query')) throw new Problem(400, error.message);
  throw error;
}

async function readAll(result: QueryResult): Promise<unknown[][]> {
  const rows: unknown[][] = [];
  for await (const group of result.groups()) for (const row of group) rows.push(row.map(plainValue));
  return rows;
}

/** Sends a file that is whole before its first byte is sent, and removes it. */
async function sendWritten(reply: FastifyReply, write: (file: string) => Promise<unknown>): Promise<FastifyReply> {
  const folder = await mkdtemp(join(tmpdir(), 'rekap-rows-'));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  const file = join(folder, 'rows');
  try {
    await write(file);
  } catch (error) {
    await remove();
    throw error;
  }
  return reply.send(createReadStream(file).on('close', () => void remove()));
}

/** Marks what the text has in backticks. */
function withCode(text: string): Html {
  return html`${text.split('`').map((part, at) => (at % 2 === 1 ? html`<code>${part}</code>` : part))}`;
}

function tablePage(snapshot: Snapshot, { name, meaning, columns }: Relation, auth: Project['auth']): string {
  const notice = sampleNotice(snapshot.manifest);
  const settings = {
    name,
    auth,
    snapshot: snapshot.id,
    rows: defaultRows,
    columns: columns.map((column) => ({
      name: column.name,
      isNumber: isNumeric(column.type),
      // A code isn't a quantity, so its digits stay together.
      isGrouped: !/(^|_)(id|year|key|code)$/.test(column.name),
      meaning: [column.meaning, column.unit && `Unit: ${column.unit}.`].filter(Boolean).join(' '),
    })),
  };
  const data = new Html(JSON.stringify(settings).replaceAll('<', String.raw`\u003c`));
  return framePage(
    name,
    html`<p><a href="/">All tables</a></p>
      <h1>${name}</h1>
      ${notice === null ? null : html`<p><strong>${notice}</strong></p>`}
      <p>${withCode(meaning)}</p>
      <form id="key" hidden>
        <label>API key <input type="password" autocomplete="off" /></label> <button>Show the rows</button>
      </form>
      <p id="problem" role="alert"></p>
      <p class="actions">
        <button type="button" data-form="csv">Download CSV</button>
        <button type="button" data-form="xlsx">Download Excel</button>
        <button type="button" data-form="none">Remove filters</button>
      </p>
      <div class="scroll" tabindex="0" role="region" aria-label="Rows of ${name}">
        <table id="rows">
          <thead>
            <tr>
              ${columns.map((column) => html`<th scope="col">${column.name}</th>`)}
            </tr>
            <tr>
              ${columns.map(
                (column) =>
                  html`<td>
                    <input
                      data-filter="${column.name}"
                      aria-label="Filter ${column.name}"
                      placeholder="${isNumeric(column.type) ? 'such as >5' : 'contains'}"
                    />
                  </td>`,
              )}
            </tr>
          </thead>
        </table>
      </div>
      <details>
        <summary>What the columns mean</summary>
        <dl>
          ${settings.columns.map(
            (column) =>
              html`<dt><code>${column.name}</code></dt>
                <dd>${withCode(column.meaning)}</dd>`,
          )}
        </dl>
      </details>
      <p class="quiet">Snapshot <span id="snapshot">${snapshot.id}</span>. A filter can also be null or not null.</p>
      <script type="application/json" id="settings">
        ${data}
      </script>
      <script type="module" src="/assets/table.js"></script>`,
    'wide',
  );
}
