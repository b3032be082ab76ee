/** A server for the small projects in test/projects: page numbers, cursors and one dump, with the faults that real servers have. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export const token = 'a-token-of-tests';

export interface Faults {
  /** Most records of a page, whatever is requested. */
  readonly cap?: number;
  /** Every so many requests, the answer is 503. */
  readonly busyEvery?: number;
  /** A region whose first room has 999 seats. */
  readonly largeRoom?: string;
  /** Bytes after which a dump ends, though the response is whole. */
  readonly cutAt?: number;
}

type Item = Readonly<Record<string, unknown>>;

const regions = Array.from({ length: 7 }, (_, index) => ({ code: `AA-${index + 1}` }));

export const stations: readonly Item[] = regions.flatMap(({ code }, index) =>
  Array.from({ length: 19 + index * 13 }, (_, place) => ({
    region: code,
    no: place + 1,
    name: place % 9 === 0 ? null : `ROOM ${place}`,
    seats: String((place * 7) % 60),
  })),
);

/** Amounts whose digits a float would lose. */
export const payments: readonly Item[] = Array.from({ length: 333 }, (_, index) => ({
  id: index + 1,
  payee: index % 5 === 0 ? null : `PAYEE ${index}`,
  paid_on: index % 7 === 0 ? null : `2024-02-${String(1 + (index % 29)).padStart(2, '0')}`,
  booked_at: index % 2 === 0 ? '2024-02-14T07:30:00' : '2024-02-14T07:30:00.25Z',
  net: `${index + 1}99999999999999.10`,
  tax: '0.07',
  gross: `${index + 1}99999999999999.170`,
  final: [true, false, null][index % 3],
}));

export const vessels: readonly Item[] = Array.from({ length: 400 }, (_, index) => ({
  port: `PORT ${index % 13}`,
  sign: `S${index}`,
  built: index % 4 === 0 ? null : '1998-05-06',
  crew: index % 30,
}));

/** Serves until the test is over; gives the address. */
export async function servePages(faults: Faults = {}): Promise<string> {
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    if (faults.busyEvery !== undefined && requests % faults.busyEvery === 0) return send(response, 503, '{}');
    answer(request, response, faults);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function answer(request: IncomingMessage, response: ServerResponse, faults: Faults): void {
  const { pathname, searchParams: query } = new URL(request.url!, 'http://test');
  const cap = faults.cap ?? 1000;
  if (pathname === '/v1/regions' || pathname === '/v1/stations') {
    if (request.headers.authorization !== `Bearer ${token}`) return send(response, 401, '{}');
    const region = query.get('region');
    if (pathname === '/v1/stations' && region === null) return send(response, 400, '{"error":"region is required"}');
    const list =
      pathname === '/v1/regions'
        ? regions
        : stations
            .filter((station) => station['region'] === region)
            .map((station) =>
              station['no'] === 1 && region === faults.largeRoom ? { ...station, seats: '999' } : station,
            );
    const size = Math.min(Number(query.get('per_page') ?? 10), cap);
    const start = (Number(query.get('page') ?? 1) - 1) * size;
    const name = pathname === '/v1/regions' ? 'regions' : 'results';
    return send(response, 200, JSON.stringify({ total: list.length, [name]: list.slice(start, start + size) }));
  }
  if (pathname === '/payments' && query.get('format') === 'full') {
    const size = Math.min(Number(query.get('size') ?? 10), cap);
    const start = Number(query.get('cursor') ?? 0);
    const end = start + size;
    const next = end < payments.length ? String(end) : null;
    return send(response, 200, JSON.stringify({ items: payments.slice(start, end), page: { next } }));
  }
  if (pathname === '/dump/vessels.ndjson') {
    if (query.get('token') !== token) return send(response, 401, '{}');
    const text = vessels.map((vessel) => `${JSON.stringify(vessel)}\n`).join('');
    // Without a length, as a program writes that does not know it.
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    response.end(text.slice(0, faults.cutAt));
    return;
  }
  send(response, 404, '{}');
}

function send(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  response.end(body);
}
