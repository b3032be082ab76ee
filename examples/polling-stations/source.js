/** A service of polling stations, for trying the example: page numbers, a Bearer token, and at most 25 records per page. */

import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const records = JSON.parse(readFileSync(new URL('sample/results.json', import.meta.url), 'utf8'));
const regions = [...new Set(records.map(({ region }) => region))].map((code) => ({ code }));
const token = 'example-token';

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://host');
  const send = (status, body, headers = {}) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  if (request.headers.authorization !== `Bearer ${token}`) return send(401, {}, { 'www-authenticate': 'Bearer' });
  const region = searchParams.get('region');
  const lists = {
    '/v1/regions': regions,
    '/v1/results': records.filter((one) => region === null || one.region === region),
  };
  const list = lists[pathname];
  if (list === undefined) return send(404, {});
  const size = Math.min(25, Number(searchParams.get('per_page') ?? 10));
  const start = (Number(searchParams.get('page') ?? 1) - 1) * size;
  const page = list.slice(start, start + size);
  return send(200, pathname === '/v1/regions' ? { regions: page } : { total: list.length, results: page });
});

server.listen(process.env.PORT ?? 18083, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${server.address().port}\n`);
});
