/** Keeps connections within their bounds, and lets each have one request under way at a time. */

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { closeTimeout, maxConnections, reservedConnections, unreadAnswerTimeout } from './limits.ts';

/** A connection with a request under way; with two, where the end of one came together with the next. */
interface Busy {
  readonly first: IncomingMessage;
  readonly last: ServerResponse;
  /** When it became busy, or when the client last took all that was written to it. */
  readonly since: number;
}

/**
 * Watches the connections of `server`. What a client sends ahead stays unread until it has taken the answer before.
 *
 * When there is one connection too many, in all or from one address, the newcomer stays and another one makes room: the one
 * that has been without a request longest, whether it is idle or dribbles its headers. Where nearly all are busy, it is one
 * whose client has long taken nothing of its answer. Where there is no such one, all stay, so that the newcomer's request
 * can be told to come again later.
 *
 * @returns Whether to refuse the request on a socket, because too many connections are busy: in all, or from its address.
 */
export function boundConnections(server: Server, bound: number, monotonic: () => number): (socket: Socket) => boolean {
  // Both are in the order in which connections fell idle or became busy.
  const idle = new Set<Socket>();
  const busy = new Map<Socket, Busy>();
  // Those that were answered and have sent more ahead.
  const ahead = new Set<Socket>();
  let isClosing = false;
  // The newest idle ones stay: whoever has just connected needs a moment to send its request.
  const newcomers = Math.ceil(bound / 32);
  const boundOfAddress = bound - Math.floor((bound * reservedConnections) / maxConnections);
  // Node's own bound closes without a word; it is only the second line.
  server.maxConnections = bound + 2 * newcomers;

  function forget(socket: Socket): void {
    idle.delete(socket);
    busy.delete(socket);
    ahead.delete(socket);
  }

  /** Which of these connections is to close where there may be `most` of them. */
  function findWorst(isMeant: (socket: Socket) => boolean, most: number): Socket | undefined {
    const unasked = [...idle].filter(isMeant);
    const requested = [...busy].filter(([socket]) => isMeant(socket));
    if (unasked.length + requested.length <= most) return undefined;
    if (unasked.length > newcomers) return unasked[0];
    const overdue = monotonic() - unreadAnswerTimeout;
    return requested.find(([socket, { since }]) => socket.writableLength > 0 && since <= overdue)?.[0];
  }

  // Node calls this when the server closes. Its own version also cuts off answers that are written but not yet taken.
  server.closeIdleConnections = () => {
    isClosing = true;
    for (const socket of idle) socket.destroy();
    setTimeout(() => {
      for (const socket of busy.keys()) socket.destroy();
    }, closeTimeout).unref();
  };

  server.on('connection', (socket) => {
    if (isClosing) return void socket.destroy();
    parseOneByOne(socket, () => ahead.has(socket) || busy.get(socket)?.first.complete === true);
    idle.add(socket);
    socket.once('close', () => forget(socket));
    socket.on('drain', () => {
      const request = busy.get(socket);
      if (request !== undefined) busy.set(socket, { ...request, since: monotonic() });
    });
    if (idle.size + busy.size <= boundOfAddress) return;
    const { remoteAddress } = socket;
    const worst =
      findWorst((other) => other.remoteAddress === remoteAddress, boundOfAddress) ?? findWorst(() => true, bound);
    if (worst === undefined) return;
    // Its event `close` comes only after further newcomers.
    forget(worst);
    worst.destroy();
  });
  // Before the service's own listener, which may have answered when it returns.
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
      if (socket.isPaused() && ahead.add(socket).size === 1) setImmediate(letNextGoOn);
    });
  });

  /** One in each turn of the event loop, in which Node also accepts one connection and reads what everybody else has sent. */
  function letNextGoOn(): void {
    const [socket] = ahead;
    if (socket === undefined) return;
    ahead.delete(socket);
    socket.resume();
    if (ahead.size > 0) setImmediate(letNextGoOn);
  }

  return ({ remoteAddress }) => {
    if (busy.size <= boundOfAddress) return false;
    if (busy.size > bound) return true;
    return [...busy.keys()].filter((socket) => socket.remoteAddress === remoteAddress).length > boundOfAddress;
  };
}

/**
 * Stands between a connection and Node's parser, which would keep an object for each of thousands of requests in one packet.
 * The parser gets one head at a time, and nothing while what has arrived `mustStay`.
 */
function parseOneByOne(socket: Socket, mustStay: () => boolean): void {
  const [parse] = socket.listeners('data') as [(bytes: Buffer) => void];
  const waits = (): boolean => mustStay() || !socket.writable;
  socket.removeListener('data', parse);
  socket.on('data', (bytes: Buffer) => {
    const found = bytes.indexOf('\r\n\r\n');
    const parsed = waits() ? 0 : found === -1 ? bytes.length : found + 4;
    if (parsed > 0) parse(bytes.subarray(0, parsed));
    if (parsed === bytes.length) return;
    // Node pauses a connection whose request has a body that nobody reads, and lets it go on itself.
    const goesOn = !socket.isPaused() && !waits();
    socket.pause();
    socket.unshift(bytes.subarray(parsed));
    if (goesOn) socket.resume();
  });
}
