/** What a service of a warehouse shows beside records: the contract between its pages and whoever reads the snapshot. */

import type { Readable } from 'node:stream';
import type { Relation } from '../warehouse/read-dictionary.ts';

/** What is known of the snapshot whose records are served. */
export interface ServedSnapshot {
  readonly id: string;
  /** When its run began to read. */
  readonly readAt: Date;
  readonly source: string;
}

/** A whole table as a file. */
export interface ServedTable {
  readonly type: string;
  /** Plain ASCII without quotes; the same as long as the bytes are. */
  readonly etag: string;
  /** Its size; null where only making it would tell. */
  readonly bytes: number | null;
  /** Makes the bytes; called only where they are wanted. Null while too many tables are being made. */
  open(): Promise<Readable | null>;
}

/** A table or view with its first rows. */
export interface TablePreview {
  readonly name: string;
  readonly kind: 'table' | 'view';
  readonly meaning: string;
  readonly rows: number;
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  /** The first `limits.previewRows` rows, as a person reads their values. */
  readonly first: readonly (readonly string[])[];
}

export const tableFormats = ['parquet', 'csv', 'arrow'] as const;
type TableFormat = (typeof tableFormats)[number];

/** What a warehouse has beside records; a service of other records has none of it. */
export interface ServedSite {
  snapshot(): ServedSnapshot;
  /** The report as HTML; null where the snapshot has none. */
  report(): Promise<Buffer | null>;
  dictionary(): Promise<readonly Relation[]>;
  /** Every table and view of the snapshot that can be downloaded. */
  previews(): Promise<readonly TablePreview[]>;
  /** In the text format of Prometheus. */
  metrics(): Promise<string>;
  /** Null where there is no such table. */
  table(name: string, format: TableFormat): Promise<ServedTable | null>;
}
