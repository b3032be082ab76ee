/** Describes how to query the published file in other programs, and which tables it contains. */

import { resolve } from 'node:path';
import { paint, printable, quoteForShell } from './print/terminal.ts';
import { inColumns, widthOf } from './print/wrap-text.ts';
import { quoteText } from '../runtime/database.ts';
import { sampleNotice } from '../warehouse/snapshot-format.ts';
import { readPublishedDictionary } from '../warehouse/read-dictionary.ts';
import type { Snapshot } from '../warehouse/warehouse.ts';

export async function describeAccess({ id, manifest }: Snapshot, database: string): Promise<string> {
  const file = resolve(database);
  const attach = quote(`ATTACH ${quoteText(file)} AS rekap (READ_ONLY); USE rekap`);
  const path = /['\\]/.test(file) ? JSON.stringify(file) : `'${file}'`;
  const python = quote(`import duckdb; duckdb.connect(${path}, read_only=True).sql('SHOW TABLES').show()`);
  const notice = sampleNotice(manifest);
  const tables = (await readPublishedDictionary(database)).map(({ name, meaning }) => [name, meaning] as const);
  return [
    `Snapshot ${paint('bold', id)} from ${printable(manifest.source)}. This file stays the same when newer snapshots are published:`,
    `  ${file}`,
    ...(notice === null ? [] : [notice]),
    '',
    paint('bold', 'Open it in another program'),
    ...[
      ['DuckDB', `duckdb -cmd ${attach}`],
      ['DuckDB UI', `duckdb -cmd ${attach} -ui`],
      ['Python', `python3 -c ${python}`],
      ['rekap', 'rekap query "FROM violations"'],
    ].flatMap(([name, command]) => [`  ${name}`, `    ${command}`]),
    '',
    paint('bold', 'Tables and views'),
    ...inColumns(tables, widthOf(process.stdout)),
    '',
    'To see what the columns of a table mean:',
    `  rekap query "SELECT column_name, data_type, comment FROM duckdb_columns() WHERE table_name = '${tables[0]?.[0] ?? 'violations'}'"`,
    '',
    paint('bold', 'Example queries'),
    ...manifest.project.examples.map((example) => `  ${printable(example)}`),
    '',
  ].join('\n');
}

/** Quotes a text for a shell, if possible with double quotes, because SQL contains single ones. */
function quote(text: string): string {
  return /["$`\\!]/.test(text) ? quoteForShell(text) : `"${text}"`;
}
