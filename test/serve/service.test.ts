/** Starting and stopping: addresses, messages for what cannot be listened on, bounds, a prompt end. */

import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { expect, it } from 'vitest';
import { buildApp } from '../../src/serve/app.ts';
import * as limits from '../../src/serve/limits.ts';
import { ask, hugeSource, key, makeOptions, pipelines, start } from './support.ts';

const { path: endpoint } = pipelines[0]!;

it.each(['127.0.0.1', '0.0.0.0', 'localhost'])('returns a URL that works when listening on %s', async (host) => {
  const service = await start({ host });
  expect(service.url).toMatch(/^http:\/\/(127\.0\.0\.1|\[::1\]):\d+$/);
  expect((await ask(service, endpoint)).status).toBe(200);
});

it('refuses a port that is in use', async () => {
  const first = await start();
  const port = Number(new URL(first.url).port);
  const message = expect.stringContaining('EADDRINUSE') as string;
  await expect(start({ port })).rejects.toMatchObject({ code: 'usage', message });
  expect((await ask(first, endpoint)).status).toBe(200);
});

it.each([
  // A label of 64 letters is refused without a name server.
  `${'h'.repeat(64)}.invalid`,
  // An address of the documentation range (RFC 5737), which no machine has.
  '192.0.2.1',
])('suggests a host instead of %j', async (host) => {
  const failure = { code: 'usage', message: expect.stringContaining(host), next: expect.stringContaining('127.0.0.1') };
  await expect(start({ host })).rejects.toMatchObject(failure);
});

it.each([
  [{ port: -1 }, 'The port is -1.'],
  [{ maxConnections: 0 }, 'The limit on connections is 0.'],
])('refuses %j', async (changes, message) => {
  await expect(start(changes)).rejects.toMatchObject({ code: 'usage', message });
});

it('ends with idle connections and half a request open, and frees the port', async () => {
  const service = await start();
  const port = Number(new URL(service.url).port);
  await (await ask(service, endpoint)).text(); // fetch keeps this connection
  const sockets = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')];
  for (const socket of sockets) {
    socket.on('error', () => {}); // a reset also ends it
    await once(socket, 'connect');
  }
  sockets[1]!.write('GET / HTTP/1.1\r\nhost: ');
  const ends = sockets.map((socket) => new Promise((resolve) => socket.resume().once('close', resolve)));
  await service.close();
  await Promise.all(ends);
  const next = createServer().listen(port, '127.0.0.1');
  await once(next, 'listening');
  expect(next.address()).toMatchObject({ port });
  next.close();
});

it('completes a response that is being read, and closes one that nobody reads after a timeout', async () => {
  const service = await start({ source: hugeSource() });
  const { port } = new URL(service.url);
  const [reader, sleeper] = [connect(Number(port), '127.0.0.1'), connect(Number(port), '127.0.0.1')];
  sleeper.on('error', () => {});
  for (const socket of [reader, sleeper]) {
    socket.write(`GET ${endpoint} HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\n\r\n`);
    await once(socket, 'readable');
  }
  const closed = service.close();
  reader.resume();
  await once(reader, 'close');
  expect(reader.bytesRead).toBeGreaterThan(2 ** 25);
  await closed;
  sleeper.resume();
  await once(sleeper, 'close');
  expect(sleeper.bytesRead).toBeLessThan(2 ** 25);
});

it('sets its limits and timeouts', async () => {
  const app = await buildApp(makeOptions());
  const { headersTimeout, requestTimeout, keepAliveTimeout, idleSocketTimeout: timeout } = limits;
  expect(app.server).toMatchObject({ headersTimeout, requestTimeout, keepAliveTimeout, timeout });
  expect(app.initialConfig).toMatchObject({ bodyLimit: limits.maxBodyBytes });
  await app.close();
});
