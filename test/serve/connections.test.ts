/** Thousands of connections, slow ones and unread responses don't keep other clients out. */

import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { boundConnections } from '../../src/serve/connections.ts';
import * as limits from '../../src/serve/limits.ts';
import type { Service } from '../../src/serve/service.ts';
import { manualClock } from '../../src/testing/manual-clock.ts';
import { hugeSource, key, pipelines, requestRaw, start } from './support.ts';

const { path: endpoint } = pipelines[0]!;

/** An open connection that the test ends; what the server does to it is nobody's failure. */
async function open(port: number, bytes = '', localAddress = '127.0.0.1'): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {});
  await once(socket, 'connect');
  if (bytes !== '') socket.write(bytes);
  return socket;
}

function portOf(service: Service): number {
  return Number(new URL(service.url).port);
}

/** A server whose answers the test gives itself, with at most `bound` connections. */
async function watched(bound: number) {
  const server: Server = createServer();
  const clock = manualClock();
  const isOverLimit = boundConnections(server, bound, clock.monotonic);
  const answers: ServerResponse[] = [];
  server.on('request', (_request, response) => answers.push(response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    /** Whether the newest request is refused. */
    refused: () => isOverLimit(answers.at(-1)!.req.socket),
    server,
    clock,
    answers,
    /** A connection that the server has taken up; idle. */
    async idle(address?: string): Promise<Socket> {
      const taken = once(server, 'connection');
      const socket = await open(port, '', address);
      await taken;
      socket.resume();
      return socket;
    },
    /** A connection with a request under way, unanswered, and what it receives. */
    async busy({ header = '', address = '127.0.0.1' } = {}) {
      const arrived = once(server, 'request');
      const socket = await open(port, get.replace(/\r\n$/, `${header}\r\n`), address);
      await arrived;
      return { socket, answer: answers.at(-1)! };
    },
  };
}

const get = 'GET /health HTTP/1.1\r\nhost: x\r\n\r\n';
const getUnread = `GET ${endpoint} HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\n\r\n`;

describe('idle connections', () => {
  it.each([
    ['that send nothing', ''],
    ['that dribble their headers (slowloris)', 'GET / HTTP/1.1\r\nhost: x\r\nx-slow: '],
    ['after one response', get],
  ])('%s, do not keep others out', async (_, bytes) => {
    const service = await start({ maxConnections: 64 });
    const port = portOf(service);
    for (let held = 0; held < 300; held += 100) {
      const sockets = await Promise.all(Array.from({ length: 100 }, () => open(port, bytes)));
      // What the server has closed is let go of, so that a small bound on open files is enough for this test.
      for (const socket of sockets) socket.resume();
      expect((await requestRaw(service, 'GET', endpoint))?.status).toBe(200);
    }
  });

  it('beyond the limit: the oldest is closed, busy and newer ones stay open', async () => {
    const { idle, busy, refused } = await watched(3);
    const oldest = await idle();
    const { socket } = await busy();
    const younger = await idle();
    const ended = once(oldest, 'close');
    const newest = await idle();
    await ended;
    expect([socket.destroyed, younger.destroyed, newest.destroyed]).toEqual([false, false, false]);
    expect(refused()).toBe(false);
  });

  it('are ordered by their last response', async () => {
    const { idle, busy } = await watched(2);
    const { socket, answer } = await busy();
    const other = await idle();
    const answered = once(socket, 'data');
    const closed = once(answer, 'close');
    answer.end('done');
    await Promise.all([answered, closed]);
    // The other one connected later, but it has been without a request longer.
    const ended = once(other, 'close');
    await idle();
    await ended;
    expect(socket.destroyed).toBe(false);
  });
});

describe('connections that are all busy', () => {
  it('cause a 503 for the next request, until one of them is done', async () => {
    const { idle, busy, refused, answers } = await watched(2);
    await busy();
    await busy();
    expect(refused()).toBe(false);
    await idle();
    expect(refused()).toBe(false);
    const third = await busy();
    expect(refused()).toBe(true);
    const closed = once(answers[0]!, 'close');
    answers[0]!.end();
    await closed;
    expect(refused()).toBe(false);
    expect(third.socket.destroyed).toBe(false);
  });

  it('cause a 503 with Retry-After, which closes the connection', async () => {
    const service = await start({ maxConnections: 1, source: hugeSource() });
    const greedy = await open(portOf(service), getUnread);
    await once(greedy, 'readable');
    const refused = await requestRaw(service, 'GET', '/health');
    expect(refused?.status).toBe(503);
    expect(refused?.headers.get('content-type')).toContain('application/problem+json');
    expect(refused?.headers.get('retry-after')).toBe(String(limits.retryAfterBusy));
    expect(refused?.headers.get('connection')).toBe('close');
    greedy.destroy();
    await untilHealthy(service);
  });

  it('are closed if a response is unread for too long', async () => {
    const { idle, busy, clock } = await watched(1);
    const { socket, answer } = await busy();
    answer.write(Buffer.alloc(2 ** 25));
    await once(socket, 'readable');
    const closed = once(answer, 'close');
    await clock.sleep(limits.unreadResponseTimeout);
    await idle();
    await closed;
    expect(answer.writableFinished).toBe(false);
  });

  it('keep a response whose client reads slowly', async () => {
    const { idle, busy, clock } = await watched(1);
    const { socket, answer } = await busy();
    const taken = once(answer, 'drain');
    answer.write(Buffer.alloc(2 ** 25));
    await clock.sleep(limits.unreadResponseTimeout);
    socket.resume();
    await taken;
    socket.pause();
    answer.write(Buffer.alloc(2 ** 25));
    await idle();
    await idle();
    expect(answer.destroyed).toBe(false);
  });

  it('keep a response that is not ready yet, however long it takes', async () => {
    const { idle, busy, clock } = await watched(2);
    const [first, second] = [await busy(), await busy()];
    await clock.sleep(limits.unreadResponseTimeout * 10);
    await idle();
    await idle();
    const received = once(first.socket, 'data');
    first.answer.end('late');
    await received;
    expect(second.socket.destroyed).toBe(false);
  });
});

describe('connections of one address', () => {
  const other = '127.0.0.2';

  // Only Linux answers on all of 127.0.0.0/8 without being told to.
  it.skipIf(process.platform !== 'linux')('leave some for other addresses', async () => {
    const { idle, busy, refused } = await watched(32);
    const stranger = await idle(other);
    for (let held = 0; held < 40; held += 1) await idle();
    expect(stranger.destroyed).toBe(false);
    for (let held = 0; held < 30; held += 1) await busy();
    expect(refused()).toBe(false);
    await busy();
    expect(refused()).toBe(true);
    await busy({ address: other });
    expect(refused()).toBe(false);
  });
});

it('pipelined requests wait until the previous response is done', async () => {
  const { busy, answers, server } = await watched(8);
  const { socket } = await busy();
  socket.write(get.repeat(500));
  // Whatever the first packet holds has been read when another connection has come and gone.
  (await busy()).answer.end();
  expect(answers).toHaveLength(2);
  expect(answers[1]!.req.socket).not.toBe(answers[0]!.req.socket);
  for (let answer = answers[0]!; answers.length < 500; answer = answers.at(-1)!) {
    const next = once(server, 'request');
    answer.end();
    await next;
    expect(answers.filter(({ writableEnded }) => !writableEnded)).toHaveLength(1);
  }
});

it('an unread request body is not received', async () => {
  const { busy, answers } = await watched(8);
  const { socket } = await busy({ header: 'transfer-encoding: chunked\r\n' });
  socket.write(`1000\r\n${'x'.repeat(4092)}\r\n\r\n\r\n`.repeat(4_000));
  for (let turn = 0; turn < 100; turn += 1) (await busy()).answer.end();
  expect(answers[0]!.req.readableLength).toBeLessThan(2 ** 15);
});

it('a low limit of open files allows fewer connections, but at least one', () => {
  expect(limits.fitConnections(null)).toBe(limits.maxConnections);
  expect(limits.fitConnections(1_000_000)).toBe(limits.maxConnections);
  expect(limits.fitConnections(256)).toBe(256 - limits.reservedFiles);
  expect(limits.fitConnections(20)).toBe(1);
});

/** Asks until there is an answer: how soon the server hears of a connection's end is the system's affair. */
async function untilHealthy(service: Service): Promise<void> {
  for (;;) if ((await requestRaw(service, 'GET', '/health'))?.status === 200) return;
}
