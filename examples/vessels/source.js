/** A register of vessels, for trying the example: one response with a JSON record per line. */

import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const records = JSON.parse(readFileSync(new URL('sample/vessels.json', import.meta.url), 'utf8'));

const server = createServer((request, response) => {
  if (request.url !== '/exports/vessels.ndjson') return response.writeHead(404).end();
  response.writeHead(200, { 'content-type': 'application/x-ndjson' });
  return response.end(records.map((record) => `${JSON.stringify(record)}\n`).join(''));
});

server.listen(process.env.PORT ?? 18085, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${server.address().port}\n`);
});
