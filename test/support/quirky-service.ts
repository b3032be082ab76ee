/** A service in memory that pages in one of the ways that services do, with one quirk or several, behind the real client. */

import { integer, text } from '../../src/project/define.ts';
import type { AnyPipeline, Paging } from '../../src/project/declaration.ts';
import type { HttpResponse } from '../../src/source/http-transport.ts';
import { SourceClient } from '../../src/source/source-client.ts';
import { Secret } from '../../src/source/secret.ts';
import { extract } from '../../src/extract/extract.ts';
import { readText } from '../../src/kinds/read-field.ts';
import { manualClock } from '../../src/testing/manual-clock.ts';
import type { Verdict } from '../../src/stages.ts';

export interface Quirks {
  readonly kind: 'offset' | 'after' | 'page' | 'skip' | 'url' | 'cursor' | 'link' | 'links' | 'header' | 'none';
  /** Where it reads parameters: in the query, in the body of a POST, or the number of the page in the path. */
  readonly place: 'query' | 'body' | 'path';
  readonly records: number;
  /** Records of a page that requests no size, and of the longest page. */
  readonly usual: number;
  readonly cap: number;
  readonly hasSize: boolean;
  readonly firstPage: 0 | 1;
  /** How it responds to page 0 if its first page is 1. */
  readonly beforeFirst: 'first page' | 'empty' | 400;
  /** Records that any query can reach; null for all. */
  readonly window: number | null;
  /** How it responds behind the end, and behind its window. */
  readonly behind: 'empty' | 'no list' | 200 | 204 | 400 | 403 | 404 | 410 | 416 | 422 | 426 | 500;
  readonly beyond: 'empty' | 204 | 400 | 403 | 404 | 416 | 422 | 426 | 429 | 500 | 503;
  /** How the last page names no next page. */
  readonly last: 'absent' | 'null' | 'false' | 'empty' | 'zero' | 'cursor stays';
  /** The page, counted from 0, that names no next page although one follows; null for none. */
  readonly drops: number | null;
  /** The page, counted from 0, that names itself as the next one; null for none. */
  readonly loops: number | null;
  readonly flag: 'right' | 'none' | 'full page' | 'always false' | 'always true';
  readonly total: 'right' | 'none' | 'own' | 'small' | 'large';
  /** A request, counted from 0, that meets a temporary error; null for none. */
  readonly limited: { readonly at: number; readonly status: 403 | 429 | 503 } | null;
}

/** The declaration of a service by its documentation, with mistakes. */
export interface Declared {
  readonly paging: Paging;
  readonly records: string;
  readonly reportedCount: string | null;
  readonly field: string;
  readonly path: string;
  readonly isPost: boolean;
}

/** The declaration that fits a service. */
export function rightDeclaration(quirks: Quirks): Declared {
  const hasMore = quirks.flag === 'right' ? { hasMore: '/has_more' } : {};
  const isPost = quirks.place === 'body';
  const inPath = quirks.place === 'path' && quirks.kind === 'page';
  const name = (parameter: string): string => (isPost ? `/${parameter}` : parameter);
  const size = quirks.hasSize ? { size: name('size') } : {};
  const pagings: Readonly<Record<Quirks['kind'], Paging>> = {
    offset: { by: 'offset', limit: name('size'), offset: name('offset'), ...(quirks.firstPage === 1 && { first: 1 }) },
    after: { by: 'after', field: 'id', parameter: name('after'), ...size },
    page: { by: 'page', page: name('page'), ...size, ...(quirks.firstPage === 0 && { first: 0 }) },
    // Its number of a page counts records.
    skip: { by: 'page', page: name('skip'), ...size, first: 0, step: 'size' },
    links: { by: 'next', url: { rel: 'next', in: '/links' }, ...size },
    header: { by: 'next', cursor: { header: 'X-Next-Page' }, parameter: name('cursor'), ...size },
    url: { by: 'next', url: '/next', ...size },
    cursor: { by: 'next', cursor: '/next', parameter: name('cursor'), ...size },
    link: { by: 'next', link: true, ...size },
    none: { by: 'none' },
  };
  return {
    paging: { ...pagings[quirks.kind], ...hasMore },
    records: '/items',
    reportedCount: quirks.total === 'right' ? '/total' : null,
    field: 'name',
    path: inPath ? '/list/{page}/of' : '/list',
    isPost,
  };
}

type Answer = { readonly status: number; readonly headers?: Record<string, string>; readonly body: unknown };

function answer(quirks: Quirks, query: URLSearchParams): Answer {
  const { kind, records, usual, cap, window } = quirks;
  const wanted = quirks.hasSize && query.has('size') ? Number(query.get('size')) : usual;
  const size = kind === 'none' ? records : Math.min(wanted, cap);
  const start = startOf(quirks, query, size);
  if (typeof start === 'object') return start;
  const reach = Math.min(records, window ?? records);
  if (start > 0 && start >= reach) return refuse(start >= records ? quirks.behind : quirks.beyond, start, quirks);
  const end = Math.min(reach, start + size);
  return pageOf(quirks, query, { start, end, size });
}

/** The position of the first record of the requested page, or a refusal. Other parameters are ignored. */
function startOf(quirks: Quirks, query: URLSearchParams, size: number): number | Answer {
  switch (quirks.kind) {
    case 'offset':
      return Math.max(0, Number(query.get('offset') ?? quirks.firstPage) - quirks.firstPage);
    case 'skip':
      return Number(query.get('skip') ?? 0);
    case 'after':
      return Number(query.get('after') ?? 0);
    case 'page': {
      const number = Number(query.get('page') ?? quirks.firstPage) - quirks.firstPage;
      if (number >= 0) return number * size;
      if (quirks.beforeFirst === 'first page') return 0;
      return quirks.beforeFirst === 'empty'
        ? pageOf(quirks, query, { start: 0, end: 0, size })
        : { status: 400, body: {} };
    }
    case 'url':
    case 'cursor':
    case 'link':
    case 'links':
    case 'header':
      return Number(query.get('cursor') ?? 0);
    case 'none':
      return 0;
  }
}

function refuse(status: Quirks['behind'] | Quirks['beyond'], start: number, quirks: Quirks): Answer {
  if (status === 'no list') return { status: 200, body: { has_more: false } };
  if (typeof status === 'number' && status !== 200) return { status, body: { error: `nothing at ${start}` } };
  return pageOf(quirks, new URLSearchParams(), { start, end: start, size: 1 });
}

function pageOf(
  quirks: Quirks,
  query: URLSearchParams,
  { start, end, size }: { readonly start: number; readonly end: number; readonly size: number },
): Answer {
  const { kind, records, flag, total, last, drops, loops } = quirks;
  const items = Array.from({ length: end - start }, (_, place) => ({
    name: `r${start + place}`,
    id: start + place + 1,
    other: place,
  }));
  const number = Math.floor(start / size);
  const follows = end < records && items.length > 0;
  const flags = { right: follows, 'full page': items.length >= size, 'always false': false, 'always true': true };
  const totals = { right: records, own: items.length, small: Math.max(0, records - 1), large: records + 3 };
  const next = nextOf();
  const named = new URLSearchParams(query);
  if (next !== null) named.set('cursor', String(next));
  const isLink = kind === 'link' && next !== null;
  return {
    status: 200,
    ...(kind === 'header' && { headers: { 'x-next-page': String(next ?? '') } }),
    ...(isLink && { headers: { link: `</list>; rel="self", </list?${named.toString()}>; rel='next'` } }),
    body: {
      items,
      ...(flag !== 'none' && { has_more: flags[flag] }),
      ...(total !== 'none' && { total: totals[total] }),
      ...(kind === 'links' && {
        links: [
          { rel: 'self', href: '/list' },
          ...(next === null ? [] : [{ rel: 'next', href: `/list?${named.toString()}` }]),
        ],
      }),
      ...(kind === 'url' && { next: next === null ? lastNext() : `/list?${named.toString()}`, prev: null }),
      ...(kind === 'cursor' && { next: next ?? lastNext(), prev: null }),
      error: null,
      facets: [{ label: 'a' }, { label: 'b' }],
    },
  };

  function nextOf(): number | null {
    if (!['url', 'cursor', 'link', 'links', 'header'].includes(kind) || drops === number) return null;
    if (loops === number && follows) return start;
    return follows ? end : last === 'cursor stays' ? records : null;
  }

  function lastNext(): unknown {
    return { absent: undefined, null: null, false: false, empty: '', zero: 0, 'cursor stays': undefined }[last];
  }
}

const mostRequests = 600;

function send(quirks: Quirks, path: string, number: number): HttpResponse {
  const { limited } = quirks;
  if (limited !== null && limited.at === number)
    return { status: limited.status, headers: { 'retry-after': '2' }, body: Buffer.from('{"error":"slow down"}') };
  if (number > mostRequests) throw new Error('the extraction does not come to an end');
  const { pathname, searchParams, hash } = new URL(path, 'http://source.test');
  const [, inPath] = /^\/list\/(\d+)\/of$/.exec(pathname) ?? [];
  const body = hash === '' ? {} : (JSON.parse(decodeURIComponent(hash.slice(1))) as Record<string, string | number>);
  const inBody = Object.entries(body).map(([name, value]) => [name, String(value)] as const);
  const placed = {
    query: [...searchParams],
    // The URL of a next page has a query.
    body: [...searchParams]
      .filter(() => ['url', 'link', 'links'].includes(quirks.kind))
      .concat(inBody.map(([name, value]) => [name, value])),
    path: [...searchParams].filter(([name]) => name !== 'page' || quirks.kind !== 'page'),
  }[quirks.place];
  const query = new URLSearchParams(placed);
  if (inPath !== undefined) query.set('page', inPath);
  const isList = pathname === '/list' || inPath !== undefined;
  const {
    status,
    headers = {},
    body: content,
  }: Answer = isList ? answer(quirks, query) : { status: 404, body: { error: 'no such path' } };
  return { status, headers, body: Buffer.from(status === 204 ? '' : JSON.stringify(content)) };
}

export interface QuirkyResult {
  readonly verdicts: readonly Verdict[];
  readonly names: readonly string[];
}

/** Extracts the list as a sync does, with pages of up to `pageSize` records. */
export async function extractQuirky(quirks: Quirks, declared: Declared, pageSize: number): Promise<QuirkyResult> {
  const pipeline: AnyPipeline = {
    table: 'names',
    title: 'Names',
    comment: 'Names.',
    path: declared.path,
    ...(declared.isPost && { request: { method: 'POST', body: {} } }),
    format: 'json',
    paging: declared.paging,
    records: declared.records,
    ...(declared.reportedCount !== null && { reportedCount: declared.reportedCount }),
    columns: { name: text(declared.field, 'Name.'), id: integer('id', 'Number.') },
    key: ['name'],
    watch: [],
    checks: [],
  };
  const clock = manualClock();
  const signal = new AbortController().signal;
  let requests = 0;
  const baseUrl = 'http://source.test';
  const client = new SourceClient(
    {
      baseUrl,
      apiKey: new Secret('the-key-of-tests'),
      keyParameter: null,
      concurrency: 2,
      timeout: 5000,
      maxAttempts: 6,
      maxDuration: 3_600_000,
    },
    {
      clock,
      signal,
      random: () => 0.5,
      report: () => undefined,
      resumed: [],
      transport: { send: async (_request, path) => send(quirks, path, requests++), close: async () => undefined },
      land: async ({ body }) => ({ response: 0, read: async () => body }),
    },
  );
  const verdicts: Verdict[] = [];
  const names: string[] = [];
  const readings = extract({
    pipelines: [pipeline],
    client,
    baseUrl,
    clock,
    signal,
    report: () => undefined,
    concurrency: 2,
    pageSize,
    scopes: new Map(),
    windows: new Map(),
    before: {},
    expected: {},
    acceptChanges: false,
    contentKey: '0123456789abcdef',
    heldBytes: 1_000_000,
    maxRecords: 1000,
  });
  for await (const { verdict, pages } of readings) {
    verdicts.push(verdict);
    for (const accepted of pages) {
      const page = await accepted.read();
      for (let row = 0; row < page.records.length; row += 1) names.push(readText(page, row, 0) ?? 'null');
    }
  }
  return { verdicts, names };
}
