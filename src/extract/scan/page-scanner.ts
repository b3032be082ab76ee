/** Makes a page of an answer's bytes, and says once per dataset what is odd about its envelope or its fields. */

import type { AnyPipeline } from '../../pipeline.ts';
import type { Page, PageRequest } from '../../stages.ts';
import { createScanner, type ScannedAnswer } from './scan-answer.ts';

export type ScanPage = (pipeline: AnyPipeline, request: PageRequest, url: string, bytes: Buffer) => Page;

/** @param warnOnce Takes a message; a second one on the same topic is dropped. */
export function createPageScanner(warnOnce: (topic: string, message: string) => void): ScanPage {
  const scanners = new Map<string, (bytes: Buffer) => ScannedAnswer>();
  return (pipeline, request, url, bytes) => {
    const { table } = pipeline;
    let scanner = scanners.get(table);
    if (scanner === undefined) {
      scanner = createScanner(Object.values(pipeline.columns).map((column) => column.field));
      scanners.set(table, scanner);
    }
    const { count, records, unknownFields } = scanner(bytes);
    if (count !== records.length) {
      warnOnce(
        `count ${table}`,
        `${table}: the source's "count" does not say how many records an answer holds (${count} for ${records.length}, ${url}); rekap goes by the records.`,
      );
    }
    if (unknownFields.size > 0) {
      const names = [...unknownFields].map((name) => JSON.stringify(name.slice(0, 80))).join(', ');
      warnOnce(
        `fields ${table}`,
        `${table}: the source sends fields that rekap does not know: ${names}. They stay in the landing.`,
      );
    }
    return { request, url, bytes, count, records };
  };
}
