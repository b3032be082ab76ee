/** Frames and sends the pages of the service. */

import { createHash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import { Html, html } from '../runtime/html.ts';

const style = `:root { color-scheme: light dark; --paper: light-dark(#fff, #16181a); --ink: light-dark(#1d1d1b, #ecebe6); --quiet: light-dark(#5d5b55, #aba79d); --line: light-dark(#d9d5cb, #3a3e42); --accent: light-dark(#0b57a4, #8ab4f8); --bad: light-dark(#a3201a, #ff9a8f); background: var(--paper); color: var(--ink); }
body { max-width: 60rem; margin: 0 auto; padding: 1rem 1rem 4rem; font: 16px/1.5 system-ui, sans-serif; } .wide { max-width: 90rem; } h1 { overflow-wrap: anywhere; }
a, button.dt-paging-button { color: var(--accent); } .quiet { color: var(--quiet); } #problem, .bad { color: var(--bad); font-weight: 600; } #problem:empty { display: none; }
table { border-collapse: collapse; } caption, th, td { text-align: left; padding: .25rem 1.5rem .25rem 0; font-weight: 400; vertical-align: top; } .number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
pre { overflow: auto; } .scroll { overflow-x: auto; } :focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
#rows { font-size: .875rem; min-width: 100%; } #rows thead th { font-weight: 600; cursor: pointer; white-space: nowrap; } #rows tbody td { border-top: 1px solid var(--line); max-width: 30rem; overflow-wrap: anywhere; } #rows tbody tr:hover { background: light-dark(#f4f2ec, #22262a); }
#rows .dt-column-order::after { content: " ↕"; color: var(--quiet); } #rows th[aria-sort=ascending] .dt-column-order::after { content: " ↑"; } #rows th[aria-sort=descending] .dt-column-order::after { content: " ↓"; } .dt-column-header { display: inline; } .dt-column-header > * { display: inline; } #rows thead td { padding-bottom: .5rem; } #rows input { width: 7rem; }  .number .dt-column-header { text-align: right; }
input, select, button { font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--quiet); border-radius: 4px; padding: .2rem .5rem; } button { cursor: pointer; } button:disabled, .dt-paging-button.disabled { opacity: .5; cursor: default; } .actions, .dt-layout-row:not(.dt-layout-table), .dt-paging nav { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; margin: .5rem 0; } .dt-paging nav { gap: .3rem; } .dt-paging-button.current { background: var(--ink); color: var(--paper); }
dl { display: grid; grid-template-columns: minmax(0, max-content) minmax(0, 1fr); gap: .25rem 1.5rem; } dd { margin: 0; } dt { overflow-wrap: anywhere; }`;

/** In one piece, because the policy has the hash of its content. */
const styleElement = new Html(`<style>${style}</style>`);

const pagePolicy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; script-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** Options of a route that only reads, and isn't part of the API reference. */
export const readOnly = { method: ['GET', 'HEAD'], schema: { hide: true } };

export function framePage(title: string, content: Html, kind = ''): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <link rel="icon" href="data:," />
        ${styleElement}
      </head>
      <body class="${kind}">
        <main>${content}</main>
      </body>
    </html> `.text;
}

export function sendPage(reply: FastifyReply, text: string): FastifyReply {
  return reply
    .headers({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': pagePolicy,
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-cache',
    })
    .send(text);
}
