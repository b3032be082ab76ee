/** The service's own pages for a browser. They ask no other server for anything. */

import { createHash } from 'node:crypto';
import type { Relation } from '../duckdb/dictionary.ts';
import type { AnyPipeline } from '../pipeline.ts';
import { Html, html, table } from '../runtime/html.ts';
import { countOf } from '../runtime/text.ts';
import type { ServedSnapshot } from './served-site.ts';

const style = `
:root { color-scheme: light dark; --paper: #fbfaf7; --ink: #1d1d1b; --quiet: #5d5b55; --line: #d9d5cb; --accent: #0b6e8f; --card: #fff; --bad: #a3201a; }
@media (prefers-color-scheme: dark) { :root { --paper: #16181a; --ink: #ecebe6; --quiet: #aba79d; --line: #3a3e42; --accent: #5cc1de; --card: #1f2225; --bad: #ff9a8f; } }
* { box-sizing: border-box; } html { font: 16px/1.55 system-ui, "Segoe UI", Roboto, Helvetica, Arial, sans-serif; background: var(--paper); color: var(--ink); }
body { max-width: 980px; margin: 0 auto; padding: 1.5rem 1rem 4rem; } h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 .5rem; letter-spacing: -.02em; }
h2 { font-size: 1.25rem; margin: 2.25rem 0 .5rem; padding-top: 1rem; border-top: 2px solid var(--ink); } h3 { font-size: 1rem; margin: 1.25rem 0 .25rem; }
p { max-width: 70ch; margin: 0 0 .75rem; } a { color: var(--accent); } .quiet { color: var(--quiet); } .bad { color: var(--bad); font-weight: 600; }
nav a { margin-right: 1.25rem; } code, pre, output { font: .85em ui-monospace, SFMono-Regular, Consolas, monospace; } code { overflow-wrap: anywhere; }
pre, output { display: block; background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: .75rem; overflow: auto; max-height: 26rem; white-space: pre-wrap; overflow-wrap: anywhere; }
form { display: flex; flex-wrap: wrap; gap: .75rem; align-items: end; margin: .75rem 0; } label { display: grid; font-size: .85rem; color: var(--quiet); }
input, select, button { font: inherit; padding: .4rem .6rem; border: 1px solid var(--quiet); border-radius: 6px; background: var(--card); color: var(--ink); max-width: 100%; }
button { background: var(--accent); color: var(--paper); border-color: var(--accent); font-weight: 600; cursor: pointer; } :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: .875rem; } caption { text-align: left; font-weight: 600; padding: .4rem 0; }
th, td { text-align: left; vertical-align: top; padding: .3rem .9rem .3rem 0; border-bottom: 1px solid var(--line); font-weight: 400; } thead th { color: var(--quiet); font-size: .8rem; white-space: nowrap; }
`;

/** Asks an endpoint with what the form holds. The key stays in the page and goes into the header alone. */
const script = `
const form = document.querySelector('form');
const shown = document.querySelector('output');
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const { endpoint, district, limit, key } = Object.fromEntries(new FormData(form));
  const asked = new URL(endpoint, location.href);
  if (district !== '') asked.searchParams.set(form.dataset.district, district);
  asked.searchParams.set('limit', limit);
  shown.textContent = '…';
  try {
    const answer = await fetch(asked, { headers: { 'x-api-key': key } });
    shown.textContent = answer.status + ' ' + asked.pathname + asked.search + '\\n' + JSON.stringify(await answer.json(), null, 2);
  } catch (error) {
    shown.textContent = String(error);
  }
});
`;

const scriptHash = createHash('sha256').update(script).digest('base64');

/** What the pages may do: their own style and script, and requests to this service. */
export const pagePolicy = `default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-${scriptHash}'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

function page(title: string, content: Html): string {
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
        <main>${content}</main>
      </body>
    </html> `.text;
}

const links = html`<nav>
  <a href="/">Home</a><a href="/docs">API reference</a><a href="/dictionary">Dictionary</a><a href="/report">Report</a>
</nav>`;

interface Home {
  readonly pipelines: readonly AnyPipeline[];
  readonly snapshot: ServedSnapshot | null;
  readonly now: Date;
}

export function homePage({ pipelines, snapshot, now }: Home): string {
  const [first] = pipelines;
  const example = `${first!.endpoint}?${first!.districtParameter}=1101&limit=1`;
  return page(
    'Electoral voter data',
    html`<h1>Electoral voter data</h1>
      <p>
        Statistics of Indonesia's DPR-RI elections by electoral district (dapil), regency and sex. Every answer is
        <code>{count, data}</code>, and every request needs a key in the header <code>x-api-key</code>.
      </p>
      ${describeSnapshot(snapshot, now)} ${snapshot === null ? html`<p><a href="/docs">API reference</a></p>` : links}
      <h2>Endpoints</h2>
      ${pipelines.map(
        ({ endpoint, comment }) =>
          html`<h3><code>${endpoint}</code></h3>
            <p>${comment}</p>`,
      )}
      <pre>curl -H "x-api-key: $KEY" "$SERVICE${example}"</pre>
      <h2>Try it</h2>
      <form data-district="${first!.districtParameter}">
        <label
          >Endpoint<select name="endpoint">
            ${pipelines.map(({ endpoint }) => html`<option>${endpoint}</option>`)}
          </select></label
        >
        <label>District (empty for all)<input name="district" value="1101" inputmode="numeric" size="8" /></label>
        <label>Limit<input name="limit" value="1" inputmode="numeric" size="5" /></label>
        <label>Key<input name="key" type="password" autocomplete="off" size="24" /></label>
        <button>Ask</button>
      </form>
      <output aria-live="polite">The answer comes here.</output>
      ${new Html(`<script>${script}</script>`)}`,
  );
}

function describeSnapshot(snapshot: ServedSnapshot | null, now: Date): Html {
  if (snapshot === null) return html`<p class="quiet">The records come from files and belong to no snapshot.</p>`;
  const minutes = Math.max(0, Math.round((now.getTime() - snapshot.readAt.getTime()) / 60_000));
  const age =
    minutes < 120
      ? countOf(minutes, 'minute')
      : minutes < 2880
        ? countOf(Math.round(minutes / 60), 'hour')
        : countOf(Math.round(minutes / 1440), 'day');
  return html`<p>
      Snapshot <code>${snapshot.id}</code>, read from
      ${snapshot.source === 'sample' ? 'the sample' : html`<code>${snapshot.source}</code>`} on
      ${snapshot.readAt.toISOString().slice(0, 16).replace('T', ' ')} UTC, ${age} ago.
    </p>
    ${snapshot.source === 'sample' ? html`<p class="bad">The figures of the sample are made up.</p>` : null}`;
}

/** What a parameter may be. */
interface Bounds {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: number;
}

/** A piece of the OpenAPI document. */
interface Operation {
  readonly summary: string;
  readonly description?: string;
  readonly security: readonly unknown[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly description: string;
    readonly schema: Bounds;
  }[];
  readonly responses: Readonly<Record<string, { readonly description: string }>>;
}

interface Document {
  readonly info: { readonly title: string; readonly description: string };
  readonly paths: Readonly<Record<string, { readonly get: Operation }>>;
  readonly components: {
    readonly schemas: Readonly<
      Record<string, { readonly properties: Readonly<Record<string, { description?: string }>> }>
    >;
  };
}

/** The API reference, from the document that programs read. */
export function docsPage(given: Readonly<Record<string, unknown>>): string {
  const { info, paths, components } = given as unknown as Document;
  const schemas = Object.entries(components.schemas).filter(([name]) => name !== 'Problem');
  return page(
    `${info.title}: API reference`,
    html`<h1>API reference</h1>
      <p>${info.description} Programs read the same as <a href="/openapi.json">OpenAPI 3.1</a>.</p>
      ${links} ${Object.entries(paths).map(([path, { get }]) => describeOperation(path, get))}
      ${schemas.map(
        ([name, { properties }]) =>
          html`<h2>${name}</h2>
            ${table(
              Object.entries(properties).map(([field, { description = '' }]) => [
                html`<code>${field}</code>`,
                description,
              ]),
              { caption: `Fields of ${name}`, head: ['Field', 'Meaning'], numbers: [] },
            )}`,
      )}`,
  );
}

function describeOperation(
  path: string,
  { summary, description, security, parameters = [], responses }: Operation,
): Html {
  const bounds = ({ minimum, maximum, default: usual }: Bounds) =>
    [minimum === undefined ? '' : `${minimum} to ${maximum}`, usual === undefined ? '' : `default ${usual}`]
      .filter((part) => part !== '')
      .join('; ');
  return html`<h2><code>GET ${path}</code></h2>
    <p>
      ${description ?? `${summary}.`}
      <span class="quiet">${security.length > 0 ? 'Needs a key in x-api-key.' : 'Needs no key.'}</span>
    </p>
    ${
      parameters.length === 0
        ? null
        : table(
            parameters.map((parameter) => [
              html`<code>${parameter.name}</code>`,
              parameter.in,
              bounds(parameter.schema),
              parameter.description,
            ]),
            { caption: 'Parameters', head: ['Name', 'In', 'Values', 'Meaning'], numbers: [] },
          )
    }
    ${table(
      Object.entries(responses).map(([status, response]) => [status, response.description]),
      { caption: 'Answers', head: ['Status', 'Meaning'], numbers: [] },
    )}`;
}

/** Every table and column of the snapshot, with the address of the whole table. */
export function dictionaryPage(relations: readonly Relation[]): string {
  return page(
    'Dictionary',
    html`<h1>Dictionary</h1>
      <p>
        Every table and view of the snapshot. With the key, each can be had whole:
        <code>/tables/NAME.parquet</code>, <code>.csv</code> or <code>.arrow</code>.
      </p>
      ${links}
      ${relations.map(
        ({ name, meaning, columns }) =>
          html`<h2 id="${name}">${name}</h2>
            <p>${meaning}</p>
            ${table(
              columns.map((column) => [
                html`<code>${column.name}</code>`,
                column.type,
                column.unit,
                column.meaning,
                html`<code>${column.field ?? ''}</code>`,
              ]),
              {
                caption: `Columns of ${name}`,
                head: ['Column', 'Type', 'Unit', 'Meaning', 'Source field'],
                numbers: [],
              },
            )}`,
      )}`,
  );
}
