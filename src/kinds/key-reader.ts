/** Reads the key of a record as the table has it. */

import { type AnyPipeline, keyPlaces } from '../project/declaration.ts';
import type { Page } from '../stages.ts';
import { kindOf } from './kinds.ts';

/** Returns a function that reads a record's key as texts, equal to DuckDB's, or null if it has no valid key. */
export function createKeyReader(pipeline: AnyPipeline): (page: Page, record: number) => string[] | null {
  const columns = keyPlaces(pipeline).map((place, at) => ({
    place,
    column: kindOf(pipeline.columns[pipeline.key[at]!]!).newColumn(1),
  }));
  return (page, record) => {
    if (page.records.isObject[record] !== 1) return null;
    const isValid = columns.every(({ place, column }) => column.fill(page, record, place, 0) === 0);
    return isValid ? columns.map(({ column }) => String(column.value(0))) : null;
  };
}
