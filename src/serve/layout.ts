/** Provides the style, scripts, navigation and security policies of the service's pages. */

import { createHash } from 'node:crypto';
import { Html, html } from '../runtime/html.ts';

const style = `
:root { color-scheme: light dark; --paper: #fbfaf7; --ink: #1d1d1b; --quiet: #5d5b55; --line: #d9d5cb; --accent: #0b6e8f; --card: #fff; --bad: #a3201a; }
@media (prefers-color-scheme: dark) { :root { --paper: #16181a; --ink: #ecebe6; --quiet: #aba79d; --line: #3a3e42; --accent: #5cc1de; --card: #1f2225; --bad: #ff9a8f; } }
* { box-sizing: border-box; } html { font: 16px/1.5 system-ui, "Segoe UI", Roboto, Helvetica, Arial, sans-serif; background: var(--paper); color: var(--ink); -webkit-text-size-adjust: 100%; }
body { max-width: 1100px; margin: 0 auto; padding: 1rem 1rem 4rem; } h1 { font-size: clamp(1.7rem, 5vw, 2.4rem); line-height: 1.15; margin: .5rem 0 .5rem; letter-spacing: -.02em; }
h2 { font-size: 1.3rem; margin: 2.5rem 0 .5rem; padding-top: 1rem; border-top: 2px solid var(--ink); letter-spacing: -.01em; } h3 { font-size: 1.05rem; margin: 1.25rem 0 .25rem; }
h2 code, h3 code { font-size: .9em; font-weight: 600; } h2 .quiet { font-size: .8em; font-weight: 400; margin-left: .5rem; } p code { white-space: nowrap; } table code { font-size: .95em; } p { max-width: 68ch; margin: 0 0 .75rem; } a { color: var(--accent); } .quiet { color: var(--quiet); } .bad { color: var(--bad); font-weight: 600; }
code, pre, output, textarea { font: .85em/1.5 ui-monospace, SFMono-Regular, Consolas, monospace; } h1, h2, h3, p, td, th, code { overflow-wrap: break-word; }
pre, output { display: block; background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: .75rem; margin: .75rem 0; overflow: auto; max-height: 26rem; white-space: pre-wrap; overflow-wrap: anywhere; }
form { display: flex; flex-wrap: wrap; gap: .75rem; align-items: end; margin: .75rem 0; } label { display: grid; gap: .2rem; font-size: .85rem; color: var(--quiet); } .wide { flex: 1 0 100%; }
input, select, form button, textarea { font-size: 1rem; padding: .45rem .65rem; border: 1px solid var(--quiet); border-radius: 6px; background: var(--card); color: var(--ink); max-width: 100%; }
input, select, form button { font-family: inherit; line-height: inherit; } textarea { width: 100%; min-height: 7.5rem; resize: vertical; }
form button { background: var(--accent); color: var(--paper); border-color: var(--accent); font-weight: 600; cursor: pointer; } :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.scroll { overflow-x: auto; margin: .5rem 0 .75rem; } table { border-collapse: collapse; width: 100%; font-size: .875rem; font-variant-numeric: tabular-nums; } caption { text-align: left; font-weight: 600; padding: .4rem 0; }
th, td { text-align: left; vertical-align: top; padding: .35rem .9rem .35rem 0; border-bottom: 1px solid var(--line); font-weight: 400; } thead th { color: var(--quiet); font-size: .8rem; white-space: nowrap; border-bottom-color: var(--quiet); }
.number { text-align: right; white-space: nowrap; } .names tbody th { min-width: 10rem; }
.data table { width: max-content; min-width: 100%; } .data th, .data td { max-width: 24rem; } .data th:last-child, .data td:last-child { padding-right: 0; }
thead button { font: inherit; color: inherit; background: none; border: 0; padding: 0; cursor: pointer; } thead button:hover { color: var(--accent); }
[aria-sort=ascending] button::after { content: " \\2191"; } [aria-sort=descending] button::after { content: " \\2193"; }
details { margin: .5rem 0; } summary { cursor: pointer; color: var(--accent); } .links a { margin-right: 1rem; white-space: nowrap; }
@media (max-width: 640px) { .stack thead { display: none; } .stack table, .stack tbody, .stack tr, .stack th, .stack td { display: block; } .stack tr { padding: .6rem 0; border-bottom: 1px solid var(--line); }
  .stack caption { display: block; } .stack th, .stack td { border: 0; padding: 0; } .stack th { font-weight: 600; } .stack td:empty { display: none; } .stack td:has(.note) { display: inline; } .field::before { content: "Source field: "; } .note, .field { color: var(--quiet); margin-right: .75rem; } }
@media (min-width: 1000px) { .field wbr { display: none; } }
@media print { nav, form { display: none; } }
`;

/** Style of the link bar, which is also in the report and must not change the report's style. */
const barStyle = `.service-bar { display: flex; flex-wrap: wrap; gap: 0 .8rem; padding-bottom: 1.5rem; font-size: .875rem; line-height: 1.9; } .service-bar a { white-space: nowrap; text-decoration: none; color: var(--accent, #0b6e8f); }
.service-bar a:hover { text-decoration: underline; } .service-bar a[aria-current] { color: inherit; font-weight: 600; } @media print { .service-bar { display: none; } }`;

const requestScript = `
const form = document.querySelector('form');
const shown = document.querySelector('output');
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const { endpoint, partition, limit, key } = Object.fromEntries(new FormData(form));
  const url = new URL(endpoint, location.href);
  if (partition !== '' && form.dataset.partition !== '') url.searchParams.set(form.dataset.partition, partition);
  if (form.dataset.size !== '') url.searchParams.set(form.dataset.size, limit);
  shown.textContent = '…';
  try {
    const response = await fetch(url, { headers: { 'x-api-key': key } });
    shown.textContent = response.status + ' ' + url.pathname + url.search + '\\n' + JSON.stringify(await response.json(), null, 2);
  } catch (error) {
    shown.textContent = String(error);
  }
});
`;

const sortScript = `
for (const table of document.querySelectorAll('.data table')) {
  const heads = [...table.tHead.rows[0].cells];
  for (const [column, head] of heads.entries()) {
    const button = document.createElement('button');
    button.append(...head.childNodes);
    head.append(button);
    const textOf = (row) => row.cells[column].textContent.trim();
    const isNumber = head.classList.contains('number');
    const compare = (one, other) =>
      isNumber ? one.replaceAll(',', '') - other.replaceAll(',', '') : one.localeCompare(other, undefined, { numeric: true });
    button.addEventListener('click', () => {
      const sign = head.getAttribute('aria-sort') === 'ascending' ? -1 : 1;
      for (const each of heads) each.removeAttribute('aria-sort');
      head.setAttribute('aria-sort', sign === 1 ? 'ascending' : 'descending');
      const rows = [...table.tBodies[0].rows].sort((one, other) => {
        const [a, b] = [textOf(one), textOf(other)];
        return a === '' || b === '' ? (a === '') - (b === '') : sign * compare(a, b);
      });
      table.tBodies[0].append(...rows);
    });
  }
}
`;

export const sendRequests = new Html(`<script>${requestScript}</script>`);
export const sortTables = new Html(`<script>${sortScript}</script>`);

const hashes = [requestScript, sortScript].map(
  (script) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
);

/** Allows the pages' own style and scripts, and requests to this service. */
export const pagePolicy = `default-src 'none'; style-src 'unsafe-inline'; script-src ${hashes.join(' ')}; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`;

/** Allows a report's own script, but sandboxed, because an untrusted report must not reach other pages or the network. */
export const reportPolicy = `sandbox allow-scripts; default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

export interface SiteFeatures {
  readonly snapshot: boolean;
  readonly sql: boolean;
}

/** Returns the link bar. `current` is the path of the page. */
export function navigation({ snapshot, sql }: SiteFeatures, current: string): Html {
  const links: (readonly [path: string, name: string, isEnabled: boolean])[] = [
    ['/', 'Home', true],
    ['/report', 'Report', snapshot],
    ['/tables', 'Tables', snapshot],
    ['/sql', 'SQL', sql],
    ['/dictionary', 'Dictionary', snapshot],
    ['/docs', 'API', true],
  ];
  return html`<style>
      ${new Html(barStyle)}
    </style>
    <nav class="service-bar" aria-label="Service">
      ${links
        .filter(([, , isEnabled]) => isEnabled)
        .map(
          ([path, name]) =>
            html`<a href="${path}" ${new Html(path === current ? 'aria-current="page"' : '')}>${name}</a> `,
        )}
    </nav>`;
}

export function page(title: string, bar: Html, content: Html): string {
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
        ${bar}
        <main>${content}</main>
      </body>
    </html> `.text;
}

export function addNavigation(report: string, bar: Html): string {
  return report.replace(/<body[^>]*>/, (body) => `${body}${bar.text}`);
}

export function multiline(text: string): Html {
  return html`${text.split(/(\n|\t)/).map((part) => (/^[\n\t]$/.test(part) ? new Html(part) : part.replaceAll('\r', '')))}`;
}

/** Returns a name as code that may wrap after underscores and slashes, and before capitals. */
export function nameInCode(name: string): Html {
  return html`<code
    >${name.split(/(?<=[_/])|(?<=[a-z])(?=[A-Z])/).map((part, index) => (index === 0 ? part : html`<wbr />${part}`))}</code
  >`;
}
