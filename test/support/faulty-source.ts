/** The records as the fault kit shows them, as a source in memory: extraction meets thousands of bad services in seconds. */

import { parametersOf } from './page-request.ts';
import { voters } from './bundled.ts';
import type { PageRequest } from '../../src/stages.ts';
import { writeEnvelope } from '../../src/serve/data-endpoint.ts';
import { Chance } from '../../src/serve/faults/chance.ts';
import { driftingSource, selectWithFaults } from '../../src/serve/faults/faulty-records.ts';
import type { FaultValues } from '../../src/serve/faults/fault-list.ts';
import { buildRecordSet, fixedSource } from '../../src/serve/record-source.ts';
import { clientInMemory } from './client-in-memory.ts';
import type { SimulatedSource } from './simulated-source.ts';

/** A voters record as the source sends it. */
type SourceRecord = Readonly<Record<string, unknown>>;

export interface FaultySource extends SimulatedSource {
  /** Names of the records that stood there from the beginning until now. */
  readonly stable: ReadonlySet<string>;
  /** Every record that was ever in an answer, as `runExtract` names delivered ones. */
  readonly served: ReadonlySet<string>;
}

/** Partition and regency: what names a record, whatever becomes of its counts. */
function nameOf(record: SourceRecord): string {
  return `${String(record['IdDapil'])} ${String(record['NamaKabupaten'])}`;
}

/** The record as `runExtract` gives it when it was delivered. */
export function describeRecord(record: SourceRecord): string {
  return `${nameOf(record)} ${String(record['JumlahSeluruhPemilih'])}`;
}

/** So many requests are more than any honest extraction over these small sources needs. */
const requestBound = 20_000;

export function faultySource(records: readonly SourceRecord[], values: FaultValues, seed: number): FaultySource {
  const began = records.map((record) => ({ text: JSON.stringify(record), partition: String(record['IdDapil']) }));
  const source = driftingSource(fixedSource(new Map([[voters.table, buildRecordSet(began, new Date(0))]])));
  const requested = new Map<string, number>();
  const requests: PageRequest[] = [];
  const stable = new Set(records.map(nameOf));
  const served = new Set<string>();

  function answer(request: PageRequest): Buffer {
    const { partition, limit, offset } = parametersOf(request);
    const what = `${partition ?? 'all'} ${limit} ${offset}`;
    const turn = (requested.get(what) ?? 0) + 1;
    requested.set(what, turn);
    const chance = new Chance({ values, seed }, what, turn);
    if (chance.strikes('drift') && source.drift(voters, chance, new Date(0))) {
      const now = new Set(parse(source.current(voters).records).map(nameOf));
      for (const name of stable) if (!now.has(name)) stable.delete(name);
    }
    const selected = selectWithFaults(source.current(voters), { partition, limit, offset }, chance, true);
    for (const record of parse(selected.records)) served.add(describeRecord(record));
    return Buffer.from(writeEnvelope(voters, { ...selected, next: null, hasMore: false }));
  }

  return {
    requests,
    stable,
    served,
    ...clientInMemory((_pipeline, request) => {
      requests.push(request);
      if (requests.length > requestBound) throw new Error('extraction does not come to an end');
      return answer(request);
    }),
  };
}

function parse(texts: readonly string[]): SourceRecord[] {
  return texts.map((text) => JSON.parse(text) as SourceRecord);
}
