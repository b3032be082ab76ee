/**
 * A stand-in for the files of a count of votes, for trying the example: a tree of regions, whose codes have two digits, then four, and an object
 * of votes per province, whose names are the codes of its regencies, and in one province the text null.
 */

import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const read = (name) => JSON.parse(readFileSync(new URL(`sample/${name}.json`, import.meta.url), 'utf8'));
const of = (records, code) =>
  records.filter(({ province }) => province === code).map(({ province: _province, ...record }) => record);
const files = new Map([['/wilayah/pemilu/ppwp/0.json', read('provinces')]]);
for (const { kode } of read('provinces')) {
  files.set(`/wilayah/pemilu/ppwp/${kode}.json`, of(read('regencies'), kode));
  const table = Object.fromEntries(of(read('votes'), kode).map(({ region, ...record }) => [region, record]));
  files.set(`/pemilu/hhcw/ppwp/${kode}.json`, { ts: '2024-02-16 23:00:00', mode: 'hhcw', table });
}

const server = createServer((request, response) => {
  const file = files.get(request.url);
  response.writeHead(file === undefined ? 404 : 200, { 'content-type': 'application/json' });
  return response.end(JSON.stringify(file ?? {}));
});

server.listen(process.env.PORT ?? 18090, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${server.address().port}\n`);
});
