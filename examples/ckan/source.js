/**
 * A stand-in for a portal of CKAN, for trying the example: the limit is lowered to the maximum without an error, and the response names it.
 * A real portal has a maximum of 32,000.
 */

import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const records = JSON.parse(readFileSync(new URL('sample/residents.json', import.meta.url), 'utf8'));
const resource = '4f1c9f3e-5c0b-4c8f-9d39-0d6a5b6a2c11';
const maximum = 32;

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://host');
  const send = (status, body) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  if (pathname !== '/api/3/action/datastore_search' || searchParams.get('resource_id') !== resource)
    return send(404, { success: false, error: { __type: 'Not Found Error', message: 'Not found' } });
  const limit = Math.min(maximum, Number(searchParams.get('limit') ?? 100));
  const offset = Number(searchParams.get('offset') ?? 0);
  const part = records.slice(offset, offset + limit);
  return send(200, { success: true, result: { records: part, limit, offset, total: records.length } });
});

server.listen(process.env.PORT ?? 18087, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${server.address().port}\n`);
});
