/** Says what `rekap serve` serves, and how to try it. */

import { printable } from './print/terminal.ts';
import { inColumns, widthOf } from './print/text.ts';
import { describeFaults } from './faults.ts';
import { countOf } from '../runtime/text.ts';
import type { FaultSettings } from '../serve/faults/fault-list.ts';

export const beyondThisMachine =
  'Others can reach this service, and keys and figures travel unencrypted: put a server that speaks TLS in front of it.';

/** An endpoint that is served, and how many records it has. */
interface Served {
  readonly endpoint: string;
  readonly districtParameter: string;
  readonly records: number;
}

export function describeService(
  url: string,
  what: string,
  endpoints: readonly Served[],
  madeKey: string | null,
  faults: FaultSettings | undefined,
): string {
  const first = endpoints[0]!;
  const rows = endpoints.map(({ endpoint, records }) => [url + endpoint, countOf(records, 'record')] as const);
  const lines = [`Serving ${printable(what)}`, ...inColumns(rows, Number.POSITIVE_INFINITY), `  ${url}/`];
  if (madeKey !== null) {
    lines.push(
      '',
      'API key for this run:',
      `  ${madeKey}`,
      '',
      'Try it:',
      `  curl -H 'x-api-key: ${madeKey}' \\`,
      `    '${url}${first.endpoint}?${first.districtParameter}=1101'`,
    );
  }
  if (madeKey !== null && faults === undefined) lines.push('', 'Tables, without a key:', `  ${url}/tables`);
  if (faults !== undefined) lines.push('', describeFaults(faults.values, faults.seed, widthOf(process.stdout)));
  lines.push('', 'Ctrl-C stops it.', '');
  return lines.join('\n');
}
