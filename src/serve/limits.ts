/** Defines the limits and timeouts of the service, with reasons, and checks those that users set. */

import { RekapError } from '../errors.ts';

/** Default records per response, as in the documented service. */
export const defaultLimit = 10;

/** Maximum of the parameter for the page size. A request for more is refused, not shortened. */
export const maxLimit = 1000;

/** Numbers in the tables are signed 32-bit integers. */
export const maxNumber = 2_147_483_647;

/** Ten times the length of three short parameters. */
export const maxUrlLength = 2_048;

/** Request line and headers together. A key, some headers and the longest URL fit. */
export const maxHeaderBytes = 8_192;

/** Lists that are declared as POST have a short body. Some clients send `{}` with every request, which is allowed. */
export const maxBodyBytes = 16_384;

/** Half of the 1,024 files that many systems let a process open. */
export const maxConnections = 512;

/** Connections that one address can't use. Scaled if the limit is lower. */
export const reservedConnections = 32;

/** Size of the pieces of a long response, so that a client that doesn't read it uses little memory. */
export const pieceBytes = 65_536;

/** Bytes from which a response is compressed for clients that accept it. */
export const compressedFrom = 1024;

/** Pages of an endpoint that stay in memory, each of about `pieceBytes` at most. */
export const pagesKept = 256;

/** Seconds for Retry-After of a 503. */
export const retryAfterBusy = 5;

/** Headers need one or two packets. A client that sends them slowly blocks a connection (slowloris). */
export const headersTimeout = 10_000;

/** For headers and body together. */
export const requestTimeout = 15_000;

/** How often Node checks the two timeouts above. Its default of 30 s would double them. */
export const timeoutCheckInterval = 5_000;

/** Longer than the 4 s of undici, so that the client closes first. */
export const keepAliveTimeout = 10_000;

/** For sockets without traffic, such as a client that stopped reading. */
export const idleSocketTimeout = 30_000;

/** Time for running requests to finish when the service closes. */
export const closeTimeout = 2_000;

/** CSV tables written at a time, and pages of tables read at a time. Each needs memory and a core. */
export const tablesAtOnce = 2;

/** Bytes of memory of DuckDB for such a table. */
export const tableMemory = 256_000_000;

/** @throws `usage` if the value isn't a whole number in the range. */
export function checkRange(what: string, value: number, minimum: number, maximum: number): void {
  if (Number.isInteger(value) && value >= minimum && value <= maximum) return;
  throw new RekapError('usage', `${what} is ${value}.`, `Use a whole number from ${minimum} to ${maximum}.`);
}
