/** Keeps open connections within their bound, so that thousands of idle ones keep nobody out. */

import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { unreadAnswerTimeout } from './limits.ts';

/** A connection with requests under way: since when it has had any, and the answer that ends them. */
interface Busy {
  readonly since: number;
  readonly last: ServerResponse;
}

/** What the service asks of its connections. */
export interface Connections {
  /** Whether more connections have a request under way than there may be connections: the next request is refused. */
  areTooMany(): boolean;
}

/**
 * Watches the connections of `server`. When one comes that is one too many, another makes room for it: the one that has
 * been without a request longest, whether it is idle or dribbles its headers; where nearly all have requests under way,
 * one whose answer has been ready too long without being read. Where there is none such, the newcomer stays all the same,
 * so that its request can be told to come again later.
 */
export function boundConnections(server: Server, bound: number, monotonic: () => number): Connections {
  /** In the order in which they fell idle. */
  const idle = new Set<Socket>();
  /** In the order in which they became busy. */
  const busy = new Map<Socket, Busy>();
  /** The newest idle ones stay: whoever has just connected needs a moment to send its request. */
  const newcomers = Math.ceil(bound / 32);
  // Node's own bound closes without a word; it is only the second line.
  server.maxConnections = bound + 2 * newcomers;

  function makeRoom(): void {
    const [longestIdle] = idle;
    if (longestIdle !== undefined && idle.size > newcomers) return void longestIdle.destroy();
    const now = monotonic();
    for (const [socket, { since, last }] of busy) {
      if (last.writableEnded && now - since >= unreadAnswerTimeout) return void socket.destroy();
    }
  }

  server.on('connection', (socket) => {
    idle.add(socket);
    socket.once('close', () => {
      idle.delete(socket);
      busy.delete(socket);
    });
    if (idle.size + busy.size > bound) makeRoom();
  });
  // Before the service's own listener, which may have answered when it returns.
  server.prependListener('request', ({ socket }, response) => {
    idle.delete(socket);
    // With requests sent one after another without waiting (pipelining), the first began it and the last will end it.
    busy.set(socket, { since: busy.get(socket)?.since ?? monotonic(), last: response });
    response.once('close', () => {
      if (busy.get(socket)?.last !== response) return;
      busy.delete(socket);
      if (!socket.destroyed) idle.add(socket);
    });
  });
  return { areTooMany: () => busy.size > bound };
}
