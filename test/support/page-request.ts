/** Builds and reads requests for pages of the bundled project. */

import { targetOf } from '../../src/extract/pages.ts';
import type { AnyPipeline } from '../../src/project/declaration.ts';
import type { PageRequest } from '../../src/stages.ts';

export interface PageParameters {
  /** Null for the full listing. */
  readonly partition: string | null;
  readonly offset: number;
  readonly limit: number;
}

/** The request for a page of a list that is paged by limit and offset. */
export function requestOf(
  pipeline: AnyPipeline,
  { partition = null, offset = 0, limit = 1000 }: Partial<PageParameters> = {},
): PageRequest {
  return { dataset: pipeline.table, partition, target: targetOf(pipeline, partition, { limit, offset }) };
}

/** Returns the parameters of a request. */
export function parametersOf({ partition, target }: PageRequest): PageParameters {
  const query = new URLSearchParams(target.split('?')[1]);
  return { partition, offset: Number(query.get('offset')), limit: Number(query.get('limit')) };
}

/** Returns the same request with other parameters. */
export function withParameters(request: PageRequest, change: Partial<PageParameters>): PageRequest {
  const url = new URL(request.target, 'http://source.test');
  const { partition = request.partition, ...numbers } = change;
  for (const [name, value] of Object.entries(numbers)) url.searchParams.set(name, String(value));
  if (partition !== null) url.searchParams.set('id_dapil', partition);
  return { ...request, partition, target: url.pathname + url.search };
}
