/** Describes what `rekap serve` serves, and how to try it. */

import { printable } from './print/terminal.ts';
import { inColumns, widthOf } from './print/wrap-text.ts';
import { describeFaults } from './faults.ts';
import { countOf } from '../runtime/text.ts';
import type { AnyPipeline, Auth } from '../project/declaration.ts';
import { partitionParameters } from '../project/partition-list.ts';
import type { FaultSettings } from '../serve/faults/fault-list.ts';

export const remoteAccessWarning =
  'Other machines can reach this service, and it does not encrypt API keys or data. Put a TLS proxy in front of it.';

interface Served extends Pick<AnyPipeline, 'path' | 'partition'> {
  readonly records: number;
  readonly isReceived: boolean;
}

interface Access {
  /** A generated key; null if the user set the keys. */
  readonly key: string | null;
  readonly auth: Auth | null;
  readonly faults: FaultSettings | undefined;
}

export function describeService(
  url: string,
  what: string,
  endpoints: readonly Served[],
  { key, auth, faults }: Access,
): string {
  const { path } = endpoints[0]!;
  const rows = endpoints.map(({ path: place, records, isReceived }) => {
    const how = isReceived ? '' : ', restored from the table';
    return [url + place, `${countOf(records, 'record')}${how}`] as const;
  });
  const lines = [`Serving ${printable(what)}`, ...inColumns(rows, Number.POSITIVE_INFINITY), `  ${url}/`];
  if (key !== null) {
    const query = [
      ...partitionParameters(endpoints[0]!).flatMap(({ parameter, values }) =>
        values?.from === 'list' ? [`${parameter}=${encodeURIComponent(values.values[0]!)}`] : [],
      ),
      ...(auth !== null && 'query' in auth ? [`${auth.query}=${key}`] : []),
    ];
    const address = `'${url}${path}${query.length === 0 ? '' : `?${query.join('&')}`}'`;
    const header = headerOf(auth, key);
    lines.push('', 'API key, valid until the service stops:', `  ${key}`, '', 'Try it:');
    lines.push(...(header === null ? [`  curl ${address}`] : [`  curl ${header} \\`, `    ${address}`]));
  }
  if (key !== null && faults === undefined) lines.push('', 'Tables and report, no API key required:', `  ${url}/`);
  if (faults !== undefined) lines.push('', describeFaults(faults.values, widthOf(process.stdout)));
  lines.push('', 'To stop the service, press Ctrl-C.', '');
  return lines.join('\n');
}

/** Returns the curl option that sends a key; null if the key is in the query, or isn't required. */
function headerOf(auth: Auth | null, key: string): string | null {
  if (auth === null || 'query' in auth) return null;
  if ('header' in auth) return `-H '${auth.header}: ${auth.prefix ?? ''}${key}'`;
  return 'bearer' in auth || 'oauth2' in auth ? `-H 'authorization: Bearer ${key}'` : `-u '${key}'`;
}
