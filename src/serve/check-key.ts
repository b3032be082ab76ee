/** Checks the key of a request, in the place where the project declares it. */

import type { FastifyRequest } from 'fastify';
import type { Auth } from '../project/declaration.ts';
import type { ApiKeys } from './api-keys.ts';
import { Problem } from './problem.ts';

/** @throws Problem 401 naming the place of the key, but never the key. */
export function checkKey(request: FastifyRequest, keys: ApiKeys, auth: Auth | null): void {
  if (auth === null) return;
  const { key, place, challenge } = readKey(request, auth);
  if (!keys.accepts(key)) {
    const detail = key === undefined ? `The ${place} is missing.` : `The key in the ${place} is not accepted.`;
    throw new Problem(401, detail, { headers: { 'www-authenticate': challenge } });
  }
  // The key is not a parameter of the endpoint.
  if ('query' in auth)
    for (const values of [request.query, request.params]) delete (values as Record<string, unknown>)[auth.query];
}

/** Returns the key of a request (undefined if it's missing), its place, and the value of WWW-Authenticate. */
function readKey({ headers, raw, params }: FastifyRequest, auth: Auth) {
  if ('header' in auth) {
    const value = headers[auth.header.toLowerCase()]?.toString();
    const { prefix = '' } = auth;
    const key = value?.startsWith(prefix) === true ? value.slice(prefix.length) : undefined;
    return { key, place: `header ${auth.header}`, challenge: `ApiKey header="${auth.header}"` };
  }
  if ('query' in auth) {
    const inPath = (params as Readonly<Record<string, string>> | undefined)?.[auth.query];
    const key = inPath ?? new URLSearchParams(raw.url?.split('?')[1]).get(auth.query) ?? undefined;
    return { key, place: `parameter ${auth.query}`, challenge: `ApiKey query="${auth.query}"` };
  }
  const [, scheme, value = ''] = /^(\S+) +(.+)$/.exec(headers.authorization ?? '') ?? [];
  const place = 'header authorization';
  if ('bearer' in auth || 'oauth2' in auth)
    return { key: scheme?.toLowerCase() === 'bearer' ? value : undefined, place, challenge: 'Bearer' };
  const key = scheme?.toLowerCase() === 'basic' ? Buffer.from(value, 'base64').toString() : undefined;
  return { key, place, challenge: 'Basic realm="rekap"' };
}

/** Returns the path and query of a request without a key in them. */
export function withoutKey({ raw: { url = '/' }, routeOptions }: FastifyRequest, auth: Auth | null): string {
  if (auth === null || !('query' in auth)) return url;
  const [path = '', query] = url.split('?');
  const route = routeOptions.url?.split('/') ?? [];
  const parts = path.split('/').map((part, index) => (route[index] === `:${auth.query}` ? `{${auth.query}}` : part));
  const parameters = new URLSearchParams(query);
  parameters.delete(auth.query);
  return parameters.size === 0 ? parts.join('/') : `${parts.join('/')}?${parameters.toString()}`;
}
