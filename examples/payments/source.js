/** A service of payments, for trying the example: a cursor that names the next page, and at most 25 records per page. */

import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const records = JSON.parse(readFileSync(new URL('sample/payments.json', import.meta.url), 'utf8'));
const key = 'example-key';

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://host');
  const send = (status, body) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  if (request.headers['x-api-key'] !== key) return send(401, {});
  if (pathname !== '/v2/payments') return send(404, {});
  const size = Math.min(25, Number(searchParams.get('limit') ?? 20));
  const start = Number(searchParams.get('cursor') ?? 0);
  const next = start + size < records.length ? String(start + size) : null;
  return send(200, { items: records.slice(start, start + size), meta: { next } });
});

server.listen(process.env.PORT ?? 18084, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${server.address().port}\n`);
});
