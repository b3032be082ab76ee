/**
 * A stand-in for api.github.com, for trying the example: the header Link names the next page, and a search stops after 1,000 results with
 * status 422. Here, it stops after 50.
 */

import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const records = JSON.parse(readFileSync(new URL('sample/issues.json', import.meta.url), 'utf8'));
const token = 'example-token';
const maximum = { size: 30, search: 50 };

const server = createServer((request, response) => {
  const { pathname, searchParams, host } = new URL(request.url, `http://${request.headers.host}`);
  const send = (status, body, headers = {}) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  if (request.headers.authorization !== `Bearer ${token}`) return send(401, { message: 'Bad credentials' });
  const isSearch = pathname === '/search/issues';
  if (!isSearch && pathname !== '/repos/example/figures/issues') return send(404, { message: 'Not Found' });
  const size = Math.min(maximum.size, Number(searchParams.get('per_page') ?? 30));
  const page = Number(searchParams.get('page') ?? 1);
  if (isSearch && page * size > maximum.search)
    return send(422, { message: `Only the first ${maximum.search} search results are available` });
  const items = records.slice((page - 1) * size, page * size);
  searchParams.set('page', String(page + 1));
  const next = `<http://${host}${pathname}?${searchParams}>; rel="next"`;
  const link = page * size < records.length ? { link: next } : {};
  return send(200, isSearch ? { total_count: records.length, incomplete_results: false, items } : items, link);
});

server.listen(process.env.PORT ?? 18089, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${server.address().port}\n`);
});
