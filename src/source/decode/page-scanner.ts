/** Reads the response of a pipeline as a page: decodes its format, scans it, and fills the columns whose values are beside the records. */

import type { AnyPipeline } from '../../project/declaration.ts';
import { isBeside, isFrom } from '../../project/field-path.ts';
import { partitionParameters, splitPartition } from '../../project/partition-list.ts';
import { FieldKind, type Page, type PageRequest } from '../../stages.ts';
import { isLowerBound } from '../envelope-signs.ts';
import { nameOf, shapeOf } from './document-shape.ts';
import { BACKSLASH } from './json-text.ts';
import { createScanner, type ScannedResponse } from './scan-response.ts';
import { asLines } from './tables.ts';

export type ScanPage = (pipeline: AnyPipeline, request: PageRequest, url: string, bytes: Buffer) => Page;

export function createPageScanner(warnOnce: (topic: string, message: string) => void): ScanPage {
  const scanners = new Map<string, (bytes: Buffer) => ScannedResponse>();
  return (pipeline, request, url, received) => {
    const { table } = pipeline;
    const body = asLines(pipeline, received);
    let scanner = scanners.get(table);
    if (scanner === undefined) {
      const fields = Object.values(pipeline.columns).map((column) => (isBeside(column) ? null : column.field));
      scanner = createScanner(fields, shapeOf(pipeline));
      scanners.set(table, scanner);
    }
    const { records, names, unknownFields, ...envelope } = scanner(body);
    const bytes = fillOutside(pipeline, request, { records, names, body });
    const { count } = envelope;
    // A larger number may count all matching records. The proof compares it with every pass.
    if (count !== null && count < records.length) {
      warnOnce(
        `count ${table}`,
        `${table}: ${nameOf(pipeline.reportedCount!)} of the source is less than the number of records in the response (${count} for ${records.length} records, ${url}). rekap counts the records itself.`,
      );
    }
    if (unknownFields.size > 0) {
      const listed = [...unknownFields].map((name) => JSON.stringify(name.slice(0, 80))).join(', ');
      warnOnce(
        `fields ${table}`,
        `${table}: the source sends unknown fields: ${listed}. They are kept in the stored responses only.`,
      );
    }
    const { reportedCount } = pipeline;
    const isCountExact = reportedCount === undefined || !isLowerBound(envelope.envelope, reportedCount);
    return { request, url, bytes, ...envelope, isCountExact, records, unknownFields };
  };
}

/** Fills the columns whose values are beside the records. Returns the bytes with the value of the request behind the body, so that it is read like any other. */
function fillOutside(
  pipeline: AnyPipeline,
  { partition }: PageRequest,
  { records, names, body }: Pick<ScannedResponse, 'records' | 'names'> & { readonly body: Buffer },
): Buffer {
  let bytes = body;
  for (const [column, definition] of Object.values(pipeline.columns).entries()) {
    if (!isBeside(definition)) continue;
    const fill = (row: number, start: number, end: number): void => {
      const slot = row * records.width + column;
      records.fieldStart[slot] = start;
      records.fieldEnd[slot] = end;
      records.fieldKind[slot] =
        bytes.subarray(start, end).includes(BACKSLASH) && start < body.length ? FieldKind.escaped : FieldKind.text;
    };
    if (isFrom(definition, 'name')) for (const { row, start, end } of names) fill(row, start, end);
    else if (partition !== null) {
      const start = bytes.length;
      const place = partitionParameters(pipeline).findIndex(
        (parameter) => pipeline.columns[parameter.column] === definition,
      );
      bytes = Buffer.concat([bytes, Buffer.from(splitPartition(pipeline, partition)[place]!)]);
      for (let row = 0; row < records.length; row += 1) if (records.isObject[row] === 1) fill(row, start, bytes.length);
    }
  }
  return bytes;
}
