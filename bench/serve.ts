/** Requests per second of `rekap serve` with API keys, compared with a bare `node:http` server that returns the same bytes. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, connect, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Finding, formatRate, median } from './finding.ts';
import { command } from './measure.ts';

const connections = 64;
const seconds = 3;
const rounds = 3;
const apiKey = 'bench-key-0123456789';
const path = '/api/datapemilihdpr?id_dapil=1101&limit=10';

const bareServer = `
const [port, body] = process.argv.slice(1);
const bytes = Buffer.from(body, 'base64');
require('node:http').createServer((request, response) => {
  response.writeHead(200, { 'content-type': 'application/json; charset=utf-8', 'content-length': bytes.length });
  response.end(bytes);
}).listen(Number(port), '127.0.0.1');`;

export async function benchServe(): Promise<Finding[]> {
  const ports = [await freePort(), await freePort()] as const;
  const served = startNode([command, 'serve', '--sample', '--port', String(ports[0])], { REKAP_API_KEYS: apiKey });
  const children = [served];
  try {
    const body = await firstBody(ports[0], served);
    const bare = startNode(['-e', bareServer, String(ports[1]), body.toString('base64')]);
    children.push(bare);
    await firstBody(ports[1], bare);
    const rates: [number[], number[]] = [[], []];
    for (let round = 0; round < rounds; round += 1)
      for (const [index, port] of ports.entries()) rates[index]!.push(await measureRate(port));
    return [
      {
        section: 'serve',
        what: `requests, limit 10, ${connections} connections, median of ${rounds}`,
        measured: median(rates[0]),
        against: median(rates[1]),
        reference: 'with bare node:http',
        target: { atLeast: { must: 0.5, aim: 0.65 } },
        format: formatRate,
      },
    ];
  } finally {
    for (const child of children) {
      child.kill();
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    }
  }
}

function startNode(words: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProcess {
  return spawn(process.execPath, words, { stdio: 'ignore', env: { ...process.env, ...env } });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Waits until the server responds, and returns the body. */
async function firstBody(port: number, server: ChildProcess): Promise<Buffer> {
  for (;;) {
    if (server.exitCode !== null) throw new Error(`The server exited with ${server.exitCode}.`);
    try {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { 'x-api-key': apiKey } });
      if (response.status !== 200) throw new Error(`The server returned status ${response.status}.`);
      return Buffer.from(await response.arrayBuffer());
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      await sleep(100);
    }
  }
}

/**
 * Returns the responses per second. Plain sockets, because an HTTP client would need more time than the server: every response has the length
 * of the first one.
 */
async function measureRate(port: number): Promise<number> {
  const request = `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: ${apiKey}\r\n\r\n`;
  let responses = 0;
  const sockets = Array.from({ length: connections }, () => {
    const socket = connect(port, '127.0.0.1', () => socket.write(request));
    let length = 0;
    let received = 0;
    socket.on('data', (chunk) => {
      if (length === 0) length = lengthOf(chunk);
      received += chunk.length;
      if (received < length) return;
      received = 0;
      responses += 1;
      socket.write(request);
    });
    return socket;
  });
  await sleep(500);
  const before = responses;
  const began = performance.now();
  await sleep(seconds * 1000);
  const rate = ((responses - before) * 1000) / (performance.now() - began);
  for (const socket of sockets) socket.destroy();
  return rate;
}

function lengthOf(firstChunk: Buffer): number {
  const end = firstChunk.indexOf('\r\n\r\n');
  const content = /content-length: (\d+)/i.exec(firstChunk.toString('latin1', 0, end))?.[1];
  if (end === -1 || content === undefined) throw new Error('The response has no length.');
  return end + 4 + Number(content);
}
