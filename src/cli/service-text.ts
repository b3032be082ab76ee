/** Says what `rekap serve` serves, and how to try it. */

import { printable } from './print/terminal.ts';
import { inColumns, widthOf } from './print/text.ts';
import { describeFaults } from './faults.ts';
import { countOf } from '../runtime/text.ts';
import type { FaultSettings } from '../serve/faults/fault-list.ts';

export const beyondThisMachine =
  'Other machines can reach this service, and it does not encrypt API keys or data. Put a TLS proxy in front of it.';

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
      'API key, valid until the service stops:',
      `  ${madeKey}`,
      '',
      'Try it:',
      `  curl -H 'x-api-key: ${madeKey}' \\`,
      `    '${url}${first.endpoint}?${first.districtParameter}=1101'`,
    );
  }
  if (madeKey !== null && faults === undefined) lines.push('', 'Tables, no API key required:', `  ${url}/tables`);
  if (faults !== undefined) lines.push('', describeFaults(faults.values, faults.seed, widthOf(process.stdout)));
  lines.push('', 'To stop the service, press Ctrl-C.', '');
  return lines.join('\n');
}
