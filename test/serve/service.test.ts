/** Starting and stopping: addresses, messages for what cannot be listened on, bounds, a prompt end. */

import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { expect, it } from 'vitest';
import { buildApp } from '../../src/serve/app.ts';
import * as limits from '../../src/serve/limits.ts';
import { ask, hugeSource, key, makeOptions, pipelines, start } from './support.ts';

const { path: endpoint } = pipelines[0]!;

it.each(['127.0.0.1', '0.0.0.0', 'localhost'])('gives a URL that answers when listening on %s', async (host) => {
  const service = await start({ host });
  expect(service.url).toMatch(/^http:\/\/(127\.0\.0\.1|\[::1\]):\d+$/);
  expect((await ask(service, endpoint)).status).toBe(200);
});

it('says that a port is in use, and leaves the other server alone', async () => {
  const first = await start();
  const port = Number(new URL(first.url).port);
  const message = expect.stringContaining('EADDRINUSE') as string;
  await expect(start({ port })).rejects.toMatchObject({ code: 'usage', message });
  expect((await ask(first, endpoint)).status).toBe(200);
});

it.each([
  // A label of 64 letters is refused before any name server is asked.
  `${'h'.repeat(64)}.invalid`,
  '',
  // An address of the documentation range (RFC 5737), which no machine has.
  '192.0.2.1',
])('says which host to use instead of %j', async (host) => {
  const failure = { code: 'usage', message: expect.stringContaining(host), next: expect.stringContaining('127.0.0.1') };
  await expect(start({ host })).rejects.toMatchObject(failure);
});

it.each([
  [{ port: -1 }, 'The port is -1.'],
  [{ port: 65_536 }, 'The port is 65536.'],
  [{ port: 1.5 }, 'The port is 1.5.'],
  [{ maxLimit: 0 }, 'The largest limit is 0.'],
  [{ maxLimit: Number.NaN }, 'The largest limit is NaN.'],
  [{ maxLimit: 2_147_483_648 }, 'The largest limit is 2147483648.'],
  [{ rateLimit: 0 }, 'The rate limit per minute is 0.'],
  [{ maxConnections: 0 }, 'The limit on connections is 0.'],
])('refuses %j', async (changes, message) => {
  await expect(start(changes)).rejects.toMatchObject({ code: 'usage', message });
});

it('ends promptly with idle connections and half a request open, and frees the port', async () => {
  const service = await start();
  const port = Number(new URL(service.url).port);
  await (await ask(service, endpoint)).text(); // fetch keeps this connection
  const sockets = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')];
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  sockets[1]!.write('GET / HTTP/1.1\r\nhost: ');
  const ends = sockets.map(
    (socket) =>
      new Promise<void>((resolve) => {
        socket.on('error', () => {}); // a reset is an end too
        socket.on('close', () => resolve());
        socket.resume();
      }),
  );
  const begun = performance.now();
  await service.close();
  await Promise.all(ends);
  expect(performance.now() - begun).toBeLessThan(2_000);

  const next = createServer().listen(port, '127.0.0.1');
  await once(next, 'listening');
  next.close();
});

it('lets an answer that is being read end, and waits no longer than stated where nobody reads it', async () => {
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

it('gives its bounds and timeouts to the server', async () => {
  const app = await buildApp(makeOptions());
  expect(app.server).toMatchObject({
    headersTimeout: limits.headersTimeout,
    requestTimeout: limits.requestTimeout,
    keepAliveTimeout: limits.keepAliveTimeout,
    timeout: limits.idleSocketTimeout,
  });
  expect(app.initialConfig).toMatchObject({ bodyLimit: limits.maxBodyBytes });
  await app.close();
});
