/** Finds the column whose value names the place where the next page begins. */

import type { AnyPipeline } from './declaration.ts';
import { fieldPath } from './field-path.ts';

/** Returns the name of the column with the field of the paging `after`; undefined if no text or integer column reads it. */
export function afterColumn({ paging, columns }: Pick<AnyPipeline, 'paging' | 'columns'>): string | undefined {
  if (paging.by !== 'after') return undefined;
  const path = fieldPath(paging.field).join('/');
  const found = Object.entries(columns).find(([, { field }]) => fieldPath(field).join('/') === path);
  return found !== undefined && ['text', 'integer', 'count'].includes(found[1].kind) ? found[0] : undefined;
}
