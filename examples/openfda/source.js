/**
 * A stand-in for api.fda.gov, for trying the example: skip has a maximum, beyond which only the header Link leads further, and the key is in
 * the query. The real maximum of skip is 25,000, and that of limit 1,000.
 */

import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const records = JSON.parse(readFileSync(new URL('sample/recalls.json', import.meta.url), 'utf8'));
const key = 'example-key';
const maximum = { skip: 50, limit: 20 };

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://host');
  const send = (status, body, headers = {}) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  if (searchParams.get('api_key') !== key) return send(403, { error: { code: 'API_KEY_INVALID' } });
  if (pathname !== '/food/enforcement.json') return send(404, { error: { code: 'NOT_FOUND' } });
  const skip = Number(searchParams.get('skip') ?? 0);
  if (skip > maximum.skip) return send(400, { error: { code: 'BAD_REQUEST', message: 'Skip value is too large.' } });
  const limit = Math.min(maximum.limit, Number(searchParams.get('limit') ?? 1));
  const after = searchParams.get('search_after');
  const start = after === null ? skip : Number(after.slice(2)) + 1;
  const results = records.slice(start, start + limit);
  const end = start + results.length;
  searchParams.delete('api_key');
  searchParams.set('search_after', `0=${end - 1}`);
  const link = end < records.length ? { link: `<${pathname}?${searchParams}>; rel="next"` } : {};
  return send(200, { meta: { results: { skip, limit, total: records.length } }, results }, link);
});

server.listen(process.env.PORT ?? 18088, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${server.address().port}\n`);
});
