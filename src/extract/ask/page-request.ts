/** One request for a page: its path, and an answer cleared of a key that it repeats. */

import type { AnyPipeline } from '../../pipeline.ts';
import type { PageRequest } from '../../stages.ts';
import type { Secret } from '../../secret.ts';

/** The path and query of a page, without the origin. */
export function requestPath(base: URL, pipeline: AnyPipeline, request: PageRequest): string {
  const query = new URLSearchParams();
  if (request.district !== null) query.set(pipeline.districtParameter, String(request.district));
  query.set('limit', String(request.limit));
  query.set('offset', String(request.offset));
  return `${base.pathname.replace(/\/$/, '')}${pipeline.endpoint}?${query.toString()}`;
}

/** A shorter key, or one of digits, could stand in the data by chance, and taking it out would alter figures. */
const shortestSoughtKey = 8;

/** The body itself, or a copy without the key should the source echo it, as it is or in the escapes of JSON, URLs and HTML. */
export function withoutKey(body: Buffer, apiKey: Secret): Buffer {
  const key = apiKey.reveal();
  return key.length < shortestSoughtKey || /^\d+$/.test(key) ? body : apiKey.removeFrom(body);
}
