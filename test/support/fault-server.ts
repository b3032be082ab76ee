/** An HTTP server on loopback that answers as a test scripts it, request by request, down to the bytes on the socket. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** Answers one request; `attempt` counts the requests to this very path and query, from 1. */
export type Script = (request: IncomingMessage, response: ServerResponse, attempt: number) => void;

export interface FaultServer {
  readonly url: string;
  /** Path and query of each request, in the order of arrival. */
  readonly paths: string[];
  readonly headers: IncomingMessage['headers'][];
  close(): Promise<void>;
}

export async function startFaultServer(script: Script): Promise<FaultServer> {
  const paths: string[] = [];
  const headers: IncomingMessage['headers'][] = [];
  const attempts = new Map<string, number>();
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    paths.push(path);
    headers.push(request.headers);
    const attempt = (attempts.get(path) ?? 0) + 1;
    attempts.set(path, attempt);
    script(request, response, attempt);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    paths,
    headers,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** Answers with JSON. */
export function answerJson(
  response: ServerResponse,
  body: unknown,
  status = 200,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

/** Forwards a request to the service at `url`. If that fails, closes the connection. */
export function forward(request: IncomingMessage, response: ServerResponse, url: string): void {
  fetch(url + request.url!, { headers: { 'x-api-key': String(request.headers['x-api-key']) } })
    .then(async (answer) => response.writeHead(answer.status).end(await answer.text()))
    .catch(() => response.destroy());
}
