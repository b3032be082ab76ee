/** Stages the texts of one column: each gets a code, rows hold the code, and the join at the end puts the text back. */

import type { DuckDBAppender } from '@duckdb/node-api';
import bindings from '@duckdb/node-bindings';
import type { Data, Utf8, Vector } from 'apache-arrow';
import type { Database } from '../database.ts';
import { duckdb } from '../duckdb.ts';
import { quoteIdentifier } from '../sql-text.ts';
import { chunkRows, fillChunk } from './fill-chunk.ts';

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
    const firstFresh = this.nextCode;
    for (let index = 0; index < dictionary.length; index += 1) {
      // Not through Arrow, whose decoder drops a byte order mark that is part of the text.
      const text = bytes.toString('utf8', valueOffsets[index], valueOffsets[index + 1]);
      let code = this.codeOf.get(text);
      if (code === undefined) {
        code = firstFresh + fresh.length;
        this.codeOf.set(text, code);
        fresh.push(index);
      }
      codes[index] = code;
    }
    this.append(dictionary, fresh, firstFresh);
    return codes;
  }

  /** Appends every text of the dictionary; gives the code of the first. */
  private appendAll(dictionary: Vector): number {
    const first = this.nextCode;
    this.append(
      dictionary,
      Array.from({ length: dictionary.length }, (_, index) => index),
      first,
    );
    return first;
  }

  /** Appends the texts at these places of the dictionary with consecutive codes, as the UTF-8 bytes that Arrow holds. */
  private append(dictionary: Vector, places: readonly number[], firstCode: number): void {
    const { values, valueOffsets } = dictionary.data[0] as Data<Utf8>;
    const codes = Int32Array.from(places, (_, index) => firstCode + index);
    for (let from = 0; from < places.length; from += chunkRows) {
      const rows = Math.min(chunkRows, places.length - from);
      const chunk = fillChunk([duckdb().INTEGER, duckdb().VARCHAR], [{ values: codes, validity: null }], from, rows);
      const vector = bindings.data_chunk_get_vector(chunk.chunk, 1);
      for (let row = 0; row < rows; row += 1) {
        const place = places[from + row]!;
        const text = values.subarray(valueOffsets[place], valueOffsets[place + 1]);
        bindings.vector_assign_string_element_len(vector, row, text);
      }
      this.appender.appendDataChunk(chunk);
    }
    this.nextCode += places.length;
  }
}
