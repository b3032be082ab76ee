/** Requests of the bundled project's lists: from what they ask for, and back. */

import { targetOf } from '../../src/extract/pages.ts';
import type { AnyPipeline } from '../../src/project/declaration.ts';
import type { PageRequest } from '../../src/stages.ts';

export interface OutgoingRequest {
  /** Null for the full listing. */
  readonly partition: string | null;
  readonly offset: number;
  readonly limit: number;
}

/** The request for a page of a list that is paged by limit and offset. */
export function requestOf(
  pipeline: AnyPipeline,
  { partition = null, offset = 0, limit = 1000 }: Partial<OutgoingRequest> = {},
): PageRequest {
  return { dataset: pipeline.table, partition, target: targetOf(pipeline, partition, { limit, offset }) };
}

/** What a request asks for. */
export function askedOf({ partition, target }: PageRequest): OutgoingRequest {
  const query = new URLSearchParams(target.split('?')[1]);
  return { partition, offset: Number(query.get('offset')), limit: Number(query.get('limit')) };
}

/** The same request with something else asked for. */
export function asking(request: PageRequest, change: Partial<OutgoingRequest>): PageRequest {
  const url = new URL(request.target, 'http://source.test');
  const { partition = request.partition, ...numbers } = change;
  for (const [name, value] of Object.entries(numbers)) url.searchParams.set(name, String(value));
  if (partition !== null) url.searchParams.set('id_dapil', partition);
  return { ...request, partition, target: url.pathname + url.search };
}
