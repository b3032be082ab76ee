/** The bounds and timeouts of the service, each with its reason, and the check of those that a user sets. */

import { RekapError } from '../errors.ts';

/** Records in one answer where the request does not say; as the documented service has it. */
export const defaultLimit = 10;

/** The largest `limit` a client may ask for unless the service is told otherwise: about one megabyte of records. */
export const defaultMaxLimit = 1000;

/** Numbers in the tables are signed 32-bit, so no partition and no position lies beyond this. */
export const maxNumber = 2_147_483_647;

/** Three short parameters fit into a tenth of this. */
export const maxUrlLength = 2_048;

/** Request line and headers together; a key, a handful of headers and the longest URL fit easily. */
export const maxHeaderBytes = 8_192;

/** No route reads a body. Clients that send `{}` with every request are let through, uploads are not. */
export const maxBodyBytes = 1_024;

/**
 * Open connections; each costs little, but their number must not be the clients' choice. When one more comes, the one that
 * has been idle longest is closed. Half of the 1,024 files that many systems let a process open.
 */
export const maxConnections = 512;

/** Connections that one address leaves to others, however many it opens; in the same proportion where there may be fewer. */
export const reservedConnections = 32;

/** Bytes, about, of a large answer that are written at once. The next ones follow when the client has taken these. */
export const pieceBytes = 65_536;

/** Open files that are left for everything else, where the system's bound on open files bounds the connections. */
export const reservedFiles = 64;

/** When connections are used up, an answer of which the client has taken nothing for so long makes room. */
export const unreadAnswerTimeout = 5_000;

/** Seconds after which a client that was told 503 may try again: by then an unread answer can make room. */
export const retryAfterBusy = 5;

/** Headers come in one or two packets. A client that dribbles them is holding a connection (slowloris). */
export const headersTimeout = 10_000;

/** The whole request, with a body that nobody reads. */
export const requestTimeout = 15_000;

/** How often Node looks for requests that are over the two timeouts above; its own 30 s would double them. */
export const timeoutCheckInterval = 5_000;

/** How long an idle connection stays open. Longer than the 4 s that undici keeps one, so that the client closes first. */
export const keepAliveTimeout = 10_000;

/** A socket without any traffic, such as a client that stopped reading its answer, is dropped after this. */
export const idleSocketTimeout = 30_000;

/** When the service closes: requests under way may end within this, then their connections are closed as well. */
export const closeTimeout = 2_000;

/** CSV and Arrow tables that are made at once: each takes memory and a core, and the service has other work. */
export const tablesAtOnce = 2;

/**
 * Bytes a second at which a client must take a table that is being made; a slower one is cut off, so that others get its place.
 * A slow mobile network gives several times as much.
 */
export const leastTableRate = 16_384;

/** Milliseconds that a client may fall behind this rate, such as when its connection breaks for a moment. */
export const slowTableTimeout = 10_000;

/** SQL queries that run at once, each in a process of its own. */
export const queriesAtOnce = 2;

/** Milliseconds for a SQL query. Tables of half a million rows take well below one second. */
export const queryTimeout = 10_000;

/** Bytes of memory for a SQL query: for DuckDB, and the same again for JavaScript. */
export const queryMemory = 256 * 1024 ** 2;

/** Rows of a SQL result; it says if there are more. */
export const queryRows = 1_000;

/** Characters of a SQL result, which one process holds as one text. */
export const queryCharacters = 8_000_000;

/** A SQL query is longer than the parameters of the other paths. */
export const maxSqlUrlLength = 6_144;

/** First rows of each table on the page of tables. */
export const previewRows = 20;

/** The bound on connections where the system lets the process open so many files; null for no such limit. */
export function fitConnections(openFiles: number | null): number {
  return openFiles === null ? maxConnections : Math.max(1, Math.min(maxConnections, openFiles - reservedFiles));
}

/** @throws `usage` where a value that a user sets is no whole number within the bounds. */
export function checkRange(what: string, value: number, minimum: number, maximum: number): void {
  if (Number.isInteger(value) && value >= minimum && value <= maximum) return;
  throw new RekapError('usage', `${what} is ${value}.`, `Use a whole number from ${minimum} to ${maximum}.`);
}
