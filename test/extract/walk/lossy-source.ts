/** Sources that answer another request than they were asked, and what is lost of them by districts that count as complete. */

import type { PageRequest } from '../../../src/stages.ts';
import { runExtract } from '../../support/run-extract.ts';
import {
  faultless,
  simulateSource,
  type Behaviour,
  type SimulatedRecord,
  type SimulatedSource,
} from '../../support/simulated-source.ts';

/** Records of districts of these sizes. */
export function recordsOf(sizes: Readonly<Record<number, number>>): SimulatedRecord[] {
  return Object.entries(sizes).flatMap(([dapil, size]) =>
    Array.from({ length: size }, (_, place) => ({ dapil: Number(dapil), regency: `R${place}`, people: place })),
  );
}

/** What a source is asked for a page with. */
export type Asked = Parameters<SimulatedSource['fetchPage']>;

/** A source of these records that answers another request than it was asked. */
export function twisted(
  records: readonly SimulatedRecord[],
  twist: (request: PageRequest) => Partial<PageRequest>,
  behaviour: Partial<Behaviour> = {},
): SimulatedSource {
  const source = simulateSource(records, { ...faultless, ...behaviour }, () => 0.5);
  const fetchPage = async (...[pipeline, request]: Asked) => {
    const fetched = await source.fetchPage(pipeline, { ...request, ...twist(request) });
    return { ...fetched, page: { ...fetched.page, request } };
  };
  return { ...source, fetchPage };
}

/** An offset behind the end of everything. */
export const nowhere = 10_000;

/** Reads the source; gives what complete districts lack, and which are not complete. */
export async function lostBy(
  source: SimulatedSource,
  records: readonly SimulatedRecord[],
  settings: Parameters<typeof runExtract>[1] = {},
) {
  const reference = [...new Set(records.map(({ dapil }) => dapil))];
  const { verdicts, delivered, requests } = await runExtract(source, { pageSize: 100, reference, ...settings });
  const proved = new Set(verdicts.filter(({ complete }) => complete).map(({ dapil }) => dapil));
  const had = new Set(delivered);
  const lost = records.filter(
    ({ dapil, regency, people }) => proved.has(dapil) && !had.has(`${dapil} ${regency} ${people}`),
  );
  return { lost, proved: [...proved], verdicts, requests };
}
