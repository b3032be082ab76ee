/** Defines a kind of column: how its values are stored and described. */

import type { Column } from './column.ts';

type Json = Readonly<Record<string, unknown>>;

export interface Phrase {
  readonly en: string;
  readonly id: string;
}

export interface Kind {
  readonly sqlType: string;
  /** Type with the memory layout of the Arrow batch. DuckDB casts it to `sqlType`. */
  readonly stagedType: string;
  /** Describes a value that can't be read, such as "is not valid text". `raw` is the text from the source. */
  malformed(raw: string | null): Phrase;
  readonly unusable: string;
  /** Minimum and maximum of a whole number. */
  readonly bounds?: readonly [least: bigint, most: bigint];
  readonly schema: Json;
  newColumn(rows?: number): Column;
}

/** Describes a value that can't be read, if its text makes no difference. */
export function describeMalformed(en: string, id: string): Pick<Kind, 'malformed' | 'unusable'> {
  return { malformed: () => ({ en, id }), unusable: en };
}
