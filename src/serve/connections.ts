/** Limits the connections of the service, in total and per address, and the requests of each to one at a time. */

import type { RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';
import { closeTimeout, maxConnections, reservedConnections } from './limits.ts';

/**
 * Limits the connections of `server`. Above the limit, the new connection stays and the one that has been idle longest closes.
 * If all are busy, the new request gets a 503. A client that sends a request before the previous response has ended is
 * disconnected, because thousands of such requests would fill the memory.
 * @returns A function that returns true if a socket's request must be refused, because too many connections are busy.
 */
export function boundConnections(server: Server, bound: number): (socket: Socket) => boolean {
  // In the order in which connections became idle or busy.
  const isBusy = new Map<Socket, boolean>();
  const boundPerAddress = bound - Math.floor((bound * reservedConnections) / maxConnections);
  let isClosing = false;
  // Node's limit closes connections without a response, so it is only a fallback.
  server.maxConnections = bound + reservedConnections;

  function note(socket: Socket, busy: boolean): void {
    isBusy.delete(socket);
    if (isClosing && !busy) socket.destroy();
    if (!socket.destroyed) isBusy.set(socket, busy);
  }

  /** Returns the connections that share the limit that `socket` exceeds, or none. */
  function findCrowd({ remoteAddress }: Socket, sockets: readonly Socket[]): readonly Socket[] {
    const neighbors = sockets.filter((other) => other.remoteAddress === remoteAddress);
    if (neighbors.length > boundPerAddress) return neighbors;
    return sockets.length > bound ? sockets : [];
  }

  // Node calls this when the server closes. Its default also closes connections with unread responses.
  server.closeIdleConnections = () => {
    isClosing = true;
    for (const [socket, busy] of isBusy) if (!busy) socket.destroy();
    setTimeout(() => server.closeAllConnections(), closeTimeout).unref();
  };
  server.on('connection', (socket) => {
    note(socket, false);
    socket.once('close', () => isBusy.delete(socket));
    const idlest = findCrowd(socket, [...isBusy.keys()]).find((other) => !isBusy.get(other));
    if (idlest === undefined || idlest === socket) return;
    // Its event `close` comes only after further new connections.
    isBusy.delete(idlest);
    idlest.destroy();
  });
  // Replaces the listener, because Fastify would take a while to refuse each of thousands of requests.
  const [handle] = server.listeners('request') as [RequestListener];
  server.removeListener('request', handle);
  server.on('request', (request, response) => {
    const { socket } = request;
    if (isBusy.get(socket) !== false) return void socket.destroy();
    note(socket, true);
    response.once('close', () => note(socket, false));
    handle(request, response);
  });
  return (socket) => {
    if (isBusy.size <= boundPerAddress) return false;
    const busy = [...isBusy].flatMap(([other, isOtherBusy]) => (isOtherBusy ? [other] : []));
    return findCrowd(socket, busy).length > 0;
  };
}
