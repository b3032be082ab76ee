/** Defines the data that the service's pages show. */

import type { Readable } from 'node:stream';
import type { Relation } from '../warehouse/read-dictionary.ts';

export interface ServedSnapshot {
  readonly id: string;
  /** When its run started. */
  readonly readAt: Date;
  readonly source: string;
  /** Marks figures of the sample. Null for a real source. */
  readonly sampleNotice: string | null;
}

export interface ServedTable {
  readonly type: string;
  /** Plain ASCII without quotes. Changes with the bytes. */
  readonly etag: string;
  /** Its size, or null if unknown before it is created. */
  readonly bytes: number | null;
  /** Creates the bytes. Returns null while too many tables are in progress. */
  open(): Promise<Readable | null>;
}

export interface TablePreview {
  readonly name: string;
  readonly kind: 'table' | 'view';
  readonly meaning: string;
  readonly rows: number;
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly first: readonly (readonly string[])[];
}

export const tableFormats = ['parquet', 'csv', 'arrow'] as const;
type TableFormat = (typeof tableFormats)[number];

export interface ServedSite {
  snapshot(): ServedSnapshot;
  /** The report as HTML, or null if the snapshot has none. */
  report(): Promise<Buffer | null>;
  dictionary(): Promise<readonly Relation[]>;
  previews(): Promise<readonly TablePreview[]>;
  metrics(): Promise<string>;
  table(name: string, format: TableFormat): Promise<ServedTable | null>;
}
