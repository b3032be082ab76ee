/** Renders the pages for tables and SQL, and the page for browsers without a key. */

import { type Html, html, table } from '../runtime/html.ts';
import { countOf, formatNumber } from '../runtime/text.ts';
import { multiline, nameInCode, page, sortTables } from './layout.ts';
import { type TablePreview, tableFormats } from './served-site.ts';

export interface Visitor {
  readonly base: string;
  readonly isOpen: boolean;
}

const numbers = /^(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|U?INTEGER|FLOAT|DOUBLE|DECIMAL\(.*\))$/;

type Columns = TablePreview['columns'];

function sortable(caption: string, columns: Columns, rows: readonly (readonly (string | Html)[])[]): Html {
  return html`<div class="data">
    ${table(rows, {
      caption,
      head: columns.map(({ name }) => name),
      numbers: columns.flatMap(({ type }, index) => (numbers.test(type) ? [index] : [])),
    })}
  </div>`;
}

/** Renders download links, or a curl command if a key is required, because a browser can't send one. */
export function linkDownloads(name: string, { base, isOpen }: Visitor): Html {
  const [first, ...others] = tableFormats;
  if (isOpen)
    return html`<p class="links">
      ${tableFormats.map((format) => html`<a href="/tables/${name}.${format}" download>${format}</a>`)}
    </p>`;
  return html`<pre>curl -OH 'x-api-key: …' '${base}/tables/${name}.${first}'</pre>
    <p class="quiet">
      Or ${others.map((format, index) => html`${index === 0 ? '' : ' or '}<code>.${format}</code>`)}.
    </p>`;
}

export function tablesPage(bar: Html, previews: readonly TablePreview[], visitor: Visitor, hasSql: boolean): string {
  const overview = previews.map(({ name, kind, rows, columns }) => [
    html`<a href="#${name}">${nameInCode(name)}</a>`,
    kind,
    formatNumber(rows),
    formatNumber(columns.length),
  ]);
  return page(
    'Tables',
    bar,
    html`<h1>Tables</h1>
      <p>
        Every table and view of the snapshot. Click a column header to sort the rows that the page shows. The
        <a href="/dictionary">dictionary</a> explains each column.
      </p>
      ${sortable(
        'Tables and views',
        [
          { name: 'Name', type: 'VARCHAR' },
          { name: 'Kind', type: 'VARCHAR' },
          { name: 'Rows', type: 'BIGINT' },
          { name: 'Columns', type: 'BIGINT' },
        ],
        overview,
      )}
      ${previews.map(({ name, meaning, rows, columns, first }) => {
        const caption =
          rows === first.length ? `${name}: all rows` : `${name}: first ${first.length} of ${formatNumber(rows)} rows`;
        const query = `/sql?sql=${encodeURIComponent(`FROM ${name}`)}`;
        return html`<h2 id="${name}">${nameInCode(name)} <span class="quiet">${countOf(rows, 'row')}</span></h2>
          <p>
            ${meaning}
            <span class="links"
              ><a href="/dictionary#${name}">Columns</a>${hasSql ? html`<a href="${query}">SQL</a>` : null}</span
            >
          </p>
          ${linkDownloads(name, visitor)}
          ${first.length === 0 ? html`<p class="quiet">The table has no rows.</p>` : sortable(caption, columns, first)}`;
      })}
      ${sortTables}`,
  );
}

export interface Outcome {
  readonly columns: Columns;
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly truncated: boolean;
}

export function sqlPage(bar: Html, sql: string, outcome: Outcome | string | null, tables: readonly string[]): string {
  const query = encodeURIComponent(sql);
  return page(
    'SQL',
    bar,
    html`<h1>SQL</h1>
      <form action="/sql">
        <label class="wide"
          >One read-only statement in the SQL dialect of DuckDB<textarea name="sql" spellcheck="false" required>
${multiline(sql)}</textarea>
        </label>
        <button>Run</button>
      </form>
      ${typeof outcome === 'string' ? html`<pre class="bad">${multiline(outcome)}</pre>` : null}
      ${outcome === null || typeof outcome === 'string' ? null : showOutcome(outcome, query)}
      <h2>Tables</h2>
      <p class="links">
        ${tables.map((name) => html`<a href="/sql?sql=${encodeURIComponent(`FROM ${name}`)}"><code>${name}</code></a> `)}
      </p>
      ${sortTables}`,
  );
}

function showOutcome({ columns, rows, truncated }: Outcome, query: string): Html {
  const cells = rows.map((row) => columns.map(({ name }) => textOf(row[name])));
  const files = html`<p class="links">
    <a href="/sql.json?sql=${query}">json</a>${truncated ? null : html`<a href="/sql.csv?sql=${query}">csv</a>`}
  </p>`;
  const cut = html`<p class="bad">The result has more rows. Only the first ${formatNumber(rows.length)} are shown.</p>`;
  return html`${truncated ? cut : null}
  ${rows.length === 0 ? html`<p class="quiet">The result has no rows.</p>` : sortable(countOf(rows.length, 'row'), columns, cells)}
  ${files}`;
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Explains to a browser without a key that it can't send one in a header. */
export function keyPage(bar: Html, url: string): string {
  return page(
    'API key required',
    bar,
    html`<h1>API key required</h1>
      <p>
        The service accepts a key only in the header <code>x-api-key</code>, which browsers don't send. Use a program
        that sends the header:
      </p>
      <pre>curl -H 'x-api-key: …' '${url}'</pre>
      <p>
        Add <code>-O</code> to save a table as a file. For SQL in a program, use <code>/sql.json</code> or
        <code>/sql.csv</code> instead of <code>/sql</code>.
      </p>`,
  );
}
