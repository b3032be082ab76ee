/** Copies Arrow buffers into DuckDB data chunks: whole columns at once, texts as codes of a dictionary. */

import type { DuckDBDataChunk, DuckDBType } from '@duckdb/node-api';
import bindings from '@duckdb/node-bindings';
import { duckdb } from './database.ts';

/** The most rows that a data chunk takes. */
export const chunkRows = 2048;

/** A column ready to be copied: 4 bytes a row for INTEGER, 1 byte a row for BOOLEAN; validity one bit a row, or null where all are valid. */
export interface ChunkColumn {
  readonly values: Int32Array | Uint8Array;
  readonly validity: Uint8Array | null;
}

/** Rows `from` to `from + rows` of the columns as a data chunk; `from` is a multiple of 64, for validity goes by whole words. */
export function fillChunk(
  types: readonly DuckDBType[],
  columns: readonly ChunkColumn[],
  from: number,
  rows: number,
): DuckDBDataChunk {
  const chunk = duckdb().DuckDBDataChunk.create(types, rows);
  for (const [index, { values, validity }] of columns.entries()) {
    const vector = bindings.data_chunk_get_vector(chunk.chunk, index);
    const width = values.BYTES_PER_ELEMENT;
    bindings.copy_data_to_vector(
      vector,
      0,
      values.buffer as ArrayBuffer,
      values.byteOffset + from * width,
      rows * width,
    );
    if (validity === null) continue;
    bindings.vector_ensure_validity_writable(vector);
    bindings.copy_data_to_vector_validity(
      vector,
      0,
      validity.buffer as ArrayBuffer,
      validity.byteOffset + from / 8,
      Math.ceil(rows / 64) * 8,
    );
  }
  return chunk;
}
