/** Stages the texts of one column: each gets a code, rows hold the code, and the join at the end puts the text back. */

import type { DuckDBAppender } from '@duckdb/node-api';
import bindings from '@duckdb/node-bindings';
import type { Data, Utf8, Vector } from 'apache-arrow';
import { type Database, duckdb, quoteIdentifier } from '../duckdb/database.ts';
import { chunkRows, fillChunk } from '../duckdb/fill-chunk.ts';

/**
 * A batch with more different texts than this is taken as one that will not repeat them, such as the names of regencies: they get
 * fresh codes, and their bytes go to DuckDB as they are.
 */
const repeatingTexts = 256;

/** So many texts keep one code each; then the map begins anew, and a text may get a second code, which the join does not mind. */
const rememberedTexts = 65_536;

export class TextStage {
  readonly appender: DuckDBAppender;
  private codeOf = new Map<string, number>();
  private nextCode = 0;

  private constructor(appender: DuckDBAppender) {
    this.appender = appender;
  }

  /** Makes the temporary table `name` with the columns code and text: one per column, so that a join reads no other column's texts. */
  static async create(database: Database, name: string): Promise<TextStage> {
    await database.run(`CREATE TEMP TABLE ${quoteIdentifier(name)} (code INTEGER, text VARCHAR)`);
    return new TextStage(await database.connection.createAppender(name, 'main', 'temp'));
  }

  /** A dictionary column's codes, those of the batch replaced by those of the staged table. */
  encode(data: Data, dictionary: Vector): Int32Array {
    const local = data.values as Int32Array;
    if (dictionary.length > repeatingTexts) {
      const first = this.appendAll(dictionary);
      return local.map((code) => (code < 0 ? 0 : first + code));
    }
    const globalOf = this.codesOf(dictionary);
    return local.map((code) => (code < 0 ? 0 : globalOf[code]!));
  }

  /** Codes of texts that other batches may hold too; only new ones are appended. */
  private codesOf(dictionary: Vector): Int32Array {
    if (this.codeOf.size > rememberedTexts) this.codeOf = new Map();
    const { values, valueOffsets } = dictionary.data[0] as Data<Utf8>;
    const bytes = Buffer.from(values.buffer, values.byteOffset, values.byteLength);
    const codes = new Int32Array(dictionary.length);
    const fresh: number[] = [];
    for (let index = 0; index < dictionary.length; index += 1) {
      // Not through Arrow, whose decoder drops a byte order mark that is part of the text.
      const text = bytes.toString('utf8', valueOffsets[index], valueOffsets[index + 1]);
      let code = this.codeOf.get(text);
      if (code === undefined) {
        code = this.nextCode + fresh.length;
        this.codeOf.set(text, code);
        fresh.push(index);
      }
      codes[index] = code;
    }
    this.append(dictionary, fresh.length, (place) => fresh[place]!);
    return codes;
  }

  /** Appends every text of the dictionary; gives the code of the first. */
  private appendAll(dictionary: Vector): number {
    const first = this.nextCode;
    this.append(dictionary, dictionary.length, (place) => place);
    return first;
  }

  /** Appends so many texts with consecutive codes, as the UTF-8 bytes that Arrow holds; `indexOf` says which of the dictionary comes where. */
  private append(dictionary: Vector, count: number, indexOf: (place: number) => number): void {
    const { values, valueOffsets } = dictionary.data[0] as Data<Utf8>;
    const types = [duckdb().INTEGER, duckdb().VARCHAR];
    for (let from = 0; from < count; from += chunkRows) {
      const rows = Math.min(chunkRows, count - from);
      const codes = new Int32Array(rows);
      for (let row = 0; row < rows; row += 1) codes[row] = this.nextCode + row;
      const chunk = fillChunk(types, [{ values: codes, validity: null }], 0, rows);
      const vector = bindings.data_chunk_get_vector(chunk.chunk, 1);
      for (let row = 0; row < rows; row += 1) {
        const index = indexOf(from + row);
        const text = values.subarray(valueOffsets[index], valueOffsets[index + 1]);
        bindings.vector_assign_string_element_len(vector, row, text);
      }
      this.appender.appendDataChunk(chunk);
      this.nextCode += rows;
    }
  }
}
