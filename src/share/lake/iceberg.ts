/** The parts of Iceberg's REST protocol that rekap uses. Integers of 64 bits are bigint. */

/** A column of an Iceberg table. */
export interface IcebergField {
  readonly id: number;
  readonly name: string;
  readonly required: boolean;
  readonly type: unknown;
  readonly doc?: string;
}

/** A version of the columns of an Iceberg table. */
interface IcebergSchema {
  readonly type: 'struct';
  readonly 'schema-id'?: number;
  readonly fields: readonly IcebergField[];
}

/** The body of a request that creates a table. */
export interface NewTable {
  readonly name: string;
  readonly schema: IcebergSchema;
  readonly 'write-order'?: {
    readonly 'order-id': number;
    readonly fields: readonly Readonly<Record<string, unknown>>[];
  };
  readonly properties: Readonly<Record<string, string>>;
}

/** A branch or a tag of a table. */
interface TableRef {
  readonly 'snapshot-id': SnapshotId;
  readonly type: 'branch' | 'tag';
}

/** The parts of a table's metadata that rekap reads. */
export interface TableMetadata {
  readonly 'table-uuid': string;
  readonly location: string;
  readonly 'current-schema-id': number;
  readonly 'last-column-id': number;
  readonly schemas: readonly IcebergSchema[];
  readonly properties?: Readonly<Record<string, string>>;
  readonly snapshots?: readonly {
    readonly 'snapshot-id': SnapshotId;
    readonly summary?: Readonly<Record<string, string>>;
  }[];
  readonly refs?: Readonly<Record<string, TableRef>>;
}

/** Changes of one table in a commit, which are refused if a requirement isn't met. */
export interface TableChange {
  readonly identifier: { readonly namespace: readonly string[]; readonly name: string };
  readonly requirements: readonly Readonly<Record<string, unknown>>[];
  readonly updates: readonly TableUpdate[];
}

/** A change in a commit. DuckDB sends some with more fields. */
export type TableUpdate =
  | { readonly action: 'add-snapshot'; readonly snapshot: { readonly 'snapshot-id': SnapshotId } }
  | ({ readonly action: 'set-snapshot-ref'; readonly 'ref-name': string } & TableRef)
  | { readonly action: 'remove-snapshot-ref'; readonly 'ref-name': string }
  | { readonly action: 'add-schema'; readonly schema: IcebergSchema; readonly 'last-column-id': number }
  | { readonly action: 'set-current-schema'; readonly 'schema-id': number };

/** A small ID is a number, because only long digits become a bigint. */
export type SnapshotId = bigint | number;

export function isSame(a: SnapshotId | undefined, b: SnapshotId): boolean {
  return String(a) === String(b);
}
