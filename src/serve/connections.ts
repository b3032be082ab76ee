/** Limits connections, and processes one request per connection at a time. */

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { closeTimeout, maxConnections, reservedConnections, unreadResponseTimeout } from './limits.ts';

/** A connection with a request in progress. It has two if the end of one arrived with the next. */
interface Busy {
  readonly first: IncomingMessage;
  readonly last: ServerResponse;
  readonly since: number;
}

/**
 * Limits the connections of `server`. Pipelined requests stay unread until the client has read the previous response.
 *
 * Above the limit, in total or per address, the new connection stays and the one that has been idle longest closes.
 * If nearly all are busy, a connection whose client stopped reading closes.
 * Otherwise all stay, so that the new request gets a 503 with Retry-After.
 * @returns A function that returns true if a socket's request must be refused, because too many connections are busy.
 */
export function boundConnections(server: Server, bound: number, monotonic: () => number): (socket: Socket) => boolean {
  // Both are in the order in which connections became idle or busy.
  const idle = new Set<Socket>();
  const busy = new Map<Socket, Busy>();
  // Connections with a response and more pipelined data.
  const pipelined = new Set<Socket>();
  let isClosing = false;
  // The newest idle connections stay, because new clients need a moment to send their request.
  const newestKept = Math.ceil(bound / 32);
  const boundPerAddress = bound - Math.floor((bound * reservedConnections) / maxConnections);
  // Node's limit closes connections without a response, so it is only a fallback.
  server.maxConnections = bound + 2 * newestKept;

  function forget(socket: Socket): void {
    idle.delete(socket);
    busy.delete(socket);
    pipelined.delete(socket);
  }

  /** Returns the connection to close if more than `max` of the matching ones are open. */
  function findWorst(matches: (socket: Socket) => boolean, max: number): Socket | undefined {
    const idleMatches = [...idle].filter(matches);
    const busyMatches = [...busy].filter(([socket]) => matches(socket));
    if (idleMatches.length + busyMatches.length <= max) return undefined;
    if (idleMatches.length > newestKept) return idleMatches[0];
    const overdue = monotonic() - unreadResponseTimeout;
    return busyMatches.find(([socket, { since }]) => socket.writableLength > 0 && since <= overdue)?.[0];
  }

  // Node calls this when the server closes. Its default also closes connections with unread responses.
  server.closeIdleConnections = () => {
    isClosing = true;
    for (const socket of idle) socket.destroy();
    setTimeout(() => {
      for (const socket of busy.keys()) socket.destroy();
    }, closeTimeout).unref();
  };

  server.on('connection', (socket) => {
    if (isClosing) return void socket.destroy();
    parseOneByOne(socket, () => pipelined.has(socket) || busy.get(socket)?.first.complete === true);
    idle.add(socket);
    socket.once('close', () => forget(socket));
    socket.on('drain', () => {
      const request = busy.get(socket);
      if (request !== undefined) busy.set(socket, { ...request, since: monotonic() });
    });
    if (idle.size + busy.size <= boundPerAddress) return;
    const { remoteAddress } = socket;
    const worst =
      findWorst((other) => other.remoteAddress === remoteAddress, boundPerAddress) ?? findWorst(() => true, bound);
    if (worst === undefined) return;
    // Its event `close` comes only after further new connections.
    forget(worst);
    worst.destroy();
  });
  // Runs before the service's listener, which may have responded when it returns.
  server.prependListener('request', (request, response) => {
    const { socket } = request;
    idle.delete(socket);
    busy.set(socket, { first: request, since: monotonic(), ...busy.get(socket), last: response });
    response.once('close', () => {
      if (busy.get(socket)?.last !== response) return;
      busy.delete(socket);
      if (socket.destroyed) return;
      if (isClosing) return void socket.destroy();
      idle.add(socket);
      if (socket.isPaused() && pipelined.add(socket).size === 1) setImmediate(resumeNext);
    });
  });

  /** Resumes one connection per turn of the event loop, so that others are accepted and read in between. */
  function resumeNext(): void {
    const [socket] = pipelined;
    if (socket === undefined) return;
    pipelined.delete(socket);
    socket.resume();
    if (pipelined.size > 0) setImmediate(resumeNext);
  }

  return ({ remoteAddress }) => {
    if (busy.size <= boundPerAddress) return false;
    if (busy.size > bound) return true;
    return [...busy.keys()].filter((socket) => socket.remoteAddress === remoteAddress).length > boundPerAddress;
  };
}

/** Passes one request head at a time to Node's parser, which would create an object for each of thousands of pipelined requests. */
function parseOneByOne(socket: Socket, mustWait: () => boolean): void {
  const [parse] = socket.listeners('data') as [(bytes: Buffer) => void];
  const isWaiting = (): boolean => mustWait() || !socket.writable;
  socket.removeListener('data', parse);
  socket.on('data', (bytes: Buffer) => {
    const found = bytes.indexOf('\r\n\r\n');
    const parsed = isWaiting() ? 0 : found === -1 ? bytes.length : found + 4;
    if (parsed > 0) parse(bytes.subarray(0, parsed));
    if (parsed === bytes.length) return;
    // Node itself pauses and resumes a connection with an unread body.
    const shouldResume = !socket.isPaused() && !isWaiting();
    socket.pause();
    socket.unshift(bytes.subarray(parsed));
    if (shouldResume) socket.resume();
  });
}
