/**
 * A stand-in for the list of variables of webapi.bps.go.id, for trying the example: parameters, page and key are parts of the path, a page has
 * ten records, the total is in an array beside them, and a page behind the end has a text instead.
 */

import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const records = JSON.parse(readFileSync(new URL('sample/variables.json', import.meta.url), 'utf8'));
const key = 'example-key';
const size = 10;

const server = createServer((request, response) => {
  const send = (status, body) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  const parts = request.url.split('/').slice(1);
  if (!request.url.startsWith('/v1/api/list/model/var/')) return send(404, {});
  const given = Object.fromEntries(
    parts.slice(3, -1).flatMap((name, at, all) => (at % 2 ? [] : [[name, all[at + 1]]])),
  );
  if (given.key !== key) return send(401, { status: 'Error', message: 'Invalid API key.' });
  const list = records.filter(({ domain }) => domain === given.domain).map(({ domain: _domain, ...record }) => record);
  const page = Number(given.page ?? 1);
  const part = list.slice((page - 1) * size, page * size);
  if (part.length === 0) return send(200, { status: 'OK', 'data-availability': 'list-not-available', data: '' });
  const pages = Math.ceil(list.length / size);
  const head = { page, pages, per_page: size, count: part.length, total: list.length };
  return send(200, { status: 'OK', 'data-availability': 'available', data: [head, part] });
});

server.listen(process.env.PORT ?? 18086, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${server.address().port}\n`);
});
