/** Loads only the parts of Apache Arrow that batches need, with require as in `database.ts`: all of it takes half as long again. */

import { createRequire } from 'node:module';

type Arrow = typeof import('apache-arrow');

const require = createRequire(import.meta.url);

export const { makeData } = require('apache-arrow/data') as Arrow;
export const { RecordBatch } = require('apache-arrow/recordbatch') as Arrow;
export const { Field, Schema } = require('apache-arrow/schema') as Arrow;
export const { Bool, DataType, DateDay, Decimal, Float64, Int32, Int64, Struct, TimestampMicrosecond, Utf8 } =
  require('apache-arrow/type') as Arrow;
