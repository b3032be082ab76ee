/** A server of one list under many paths, each with another way of paging, as a probe meets them. It doesn't use rekap. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export type ListedRecord = Readonly<Record<string, unknown>>;

export interface Listing {
  readonly records: readonly ListedRecord[];
  /** Every so many requests, the response is 503. */
  readonly busyEvery?: number;
}

/** Maximum page size, whatever is requested. */
const cap = 25;

type Answer = { readonly status?: number; readonly headers?: Record<string, string>; readonly body: unknown };
type Handler = (query: URLSearchParams, records: readonly ListedRecord[], path: string) => Answer;

function cut(records: readonly ListedRecord[], start: number, size: number): readonly ListedRecord[] {
  return records.slice(start, start + Math.min(cap, size));
}

function sizeOf(query: URLSearchParams, name: string): number {
  return Number(query.get(name) ?? 10);
}

function linkTo(path: string, query: URLSearchParams, name: string, start: number): string {
  const next = new URLSearchParams(query);
  next.set(name, String(start));
  return `${path}?${next.toString()}`;
}

const handlers: Readonly<Record<string, Handler>> = {
  '/page': (query, records) => {
    const size = Math.min(cap, sizeOf(query, 'per_page'));
    return {
      body: { total: records.length, results: cut(records, (Number(query.get('page') ?? 1) - 1) * size, size) },
    };
  },
  '/page-from-0': (query, records) => {
    const size = Math.min(cap, sizeOf(query, 'size'));
    return { body: { content: cut(records, Number(query.get('page') ?? 0) * size, size) } };
  },
  '/offset': (query, records) => {
    const unknown = [...query.keys()].find((name) => !['limit', 'offset', 'region'].includes(name));
    if (unknown !== undefined) return { status: 400, body: { error: unknown } };
    return { body: cut(records, Number(query.get('offset') ?? 0), sizeOf(query, 'limit')) };
  },
  '/dollar': (query, records) => ({
    body: cut(records, Number(query.get('$offset') ?? 0), Number(query.get('$limit') ?? 1000)),
  }),
  '/brackets': (query, records, path) => {
    const [size, page] = [Math.min(cap, sizeOf(query, 'page[size]')), Number(query.get('page[number]') ?? 1)];
    const more = { next: linkTo(path, query, 'page[number]', page + 1) };
    return { body: { data: cut(records, (page - 1) * size, size), links: page * size < records.length ? more : {} } };
  },
  '/cursor': (query, records) => {
    const [start, size] = [Number(query.get('cursor') ?? 0), Math.min(cap, sizeOf(query, 'limit'))];
    const next = start + size < records.length ? String(start + size) : null;
    return { body: { data: { items: cut(records, start, size) }, meta: { next_cursor: next } } };
  },
  '/next': (query, records, path) => {
    const start = Number(query.get('from') ?? 0);
    const next = start + cap < records.length ? linkTo(path, query, 'from', start + cap) : null;
    return { body: { rows: cut(records, start, cap), next } };
  },
  '/link': (query, records, path) => {
    const start = Number(query.get('after') ?? 0);
    const next = linkTo(path, query, 'after', start + cap);
    const headers = start + cap < records.length ? { link: `<${next}>; rel="next"` } : undefined;
    return { ...(headers !== undefined && { headers }), body: cut(records, start, cap) };
  },
  '/links': (query, records, path) => {
    const start = Number(query.get('from') ?? 0);
    const next = start + cap < records.length ? [{ rel: 'next', href: linkTo(path, query, 'from', start + cap) }] : [];
    return { body: { links: [{ rel: 'self', href: path }, ...next], items: cut(records, start, cap) } };
  },
  '/header': (query, records) => {
    const start = Number(query.get('cursor')?.slice(1) ?? 0);
    const headers = start + cap < records.length ? { 'x-next-cursor': `c${start + cap}` } : undefined;
    return { ...(headers !== undefined && { headers }), body: cut(records, start, cap) };
  },
  '/from-1': (query, records) => ({
    body: { total: records.length, rows: cut(records, Number(query.get('start') ?? 1) - 1, sizeOf(query, 'rows')) },
  }),
  '/arcgis': (query, records) => {
    const [start, size] = [Number(query.get('resultOffset') ?? 0), Number(query.get('resultRecordCount') ?? cap)];
    const features = cut(records, start, size);
    return { body: { features, exceededTransferLimit: start + features.length < records.length } };
  },
  '/after': (query, records) => {
    const start = records.findIndex(({ id }) => String(id) === query.get('starting_after')) + 1;
    const data = cut(records, start, sizeOf(query, 'limit'));
    return { body: { data, has_more: start + data.length < records.length } };
  },
  '/by-key': (_query, records) => ({ body: Object.fromEntries(records.map((record, at) => [`k${at}`, record])) }),
  '/pair': (_query, records) => ({ body: [{ status: 'ok' }, records] }),
  '/all': (_query, records) => ({ body: { data: records } }),
};

/** A list whose next page is named by nothing that a probe tries. */
const afterLast: Handler = (query, records) => {
  const size = Math.min(cap, sizeOf(query, 'limit'));
  return { body: { data: cut(records, 0, size), has_more: size < records.length } };
};

export const listingPaths = [...Object.keys(handlers), '/lines.ndjson'];

/** Serves until the test is over; returns the URL. Only `region` filters, and only where the list is paged. */
export async function serveListing({ records, busyEvery }: Listing): Promise<string> {
  let requests = 0;
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    requests += 1;
    const { pathname, searchParams } = new URL(request.url!, 'http://host');
    const isBusy = busyEvery !== undefined && requests % busyEvery === 0;
    if (isBusy) return void response.writeHead(503).end();
    if (pathname === '/lines.ndjson')
      return void response.end(records.map((record) => `${JSON.stringify(record)}\n`).join(''));
    const handler = pathname === '/after-last' ? afterLast : handlers[pathname];
    if (handler === undefined) return void response.writeHead(404).end('{}');
    const region = searchParams.get('region');
    const isFilter = region !== null && !['/by-key', '/all'].includes(pathname);
    const own = isFilter ? records.filter((record) => record['region'] === region) : records;
    const { status = 200, headers = {}, body } = handler(searchParams, own, pathname);
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => void server.once('listening', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
