/** Stages the texts of one column: each gets a code, rows hold the code, and the join at the end puts the text back. */

import { INTEGER, VARCHAR, DuckDBDataChunk, type DuckDBAppender } from '@duckdb/node-api';
import type { Data, Vector } from 'apache-arrow';
import type { Database } from '../database.ts';
import { quoteIdentifier } from '../sql-text.ts';
import { chunkRows } from './fill-chunk.ts';

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
    const globalOf = new Int32Array(dictionary.length);
    const fresh: string[] = [];
    const firstFresh = this.nextCode;
    for (let index = 0; index < dictionary.length; index += 1) {
      const text = dictionary.get(index) as string;
      let code = this.codeOf.get(text);
      if (code === undefined) {
        code = this.nextCode;
        this.nextCode += 1;
        this.codeOf.set(text, code);
        fresh.push(text);
      }
      globalOf[index] = code;
    }
    this.append(fresh, firstFresh);
    if (this.codeOf.size > rememberedTexts) this.codeOf = new Map();
    return (data.values as Int32Array).map((code) => (code < 0 ? 0 : globalOf[code]!));
  }

  private append(texts: readonly string[], firstCode: number): void {
    for (let from = 0; from < texts.length; from += chunkRows) {
      const slice = texts.slice(from, from + chunkRows);
      const chunk = DuckDBDataChunk.create([INTEGER, VARCHAR], slice.length);
      chunk.setColumns([slice.map((_, index) => firstCode + from + index), slice]);
      this.appender.appendDataChunk(chunk);
    }
  }
}
