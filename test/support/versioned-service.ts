/** The real service over a small nation whose every figure tells its version, so that a mixture of two versions shows. */

import { pipelines } from './bundled.ts';
import { sumChecks } from '../../src/project/declaration.ts';
import { ApiKeys } from '../../src/serve/api-keys.ts';
import { buildRecordSet, type RecordSource } from '../../src/serve/record-source.ts';
import { startService, type Service } from '../../src/serve/service.ts';

export const versionedKey = 'versioned-service-key';

/** Regencies by partition; more than one page of two records each for most. */
const sizes: Readonly<Record<number, number>> = { 1101: 3, 1102: 5, 1201: 1, 1202: 4, 1203: 2 };
export const regencies = Object.values(sizes).reduce((sum, size) => sum + size, 0);

export interface VersionedService extends Service {
  /** What the records say from now on. */
  version: number;
}

/** Every count of version v is v, 2v or 4v, so that all sums hold. */
export async function startVersionedService(): Promise<VersionedService> {
  const state = { version: 1 };
  const source: RecordSource = {
    current(pipeline) {
      const records = Object.entries(sizes).flatMap(([partition, size]) =>
        Array.from({ length: size }, (_, index) =>
          recordOf(pipeline, partition, `KOTA ${partition}-${index}`, state.version),
        ),
      );
      return buildRecordSet(
        records.map((record) => ({ text: JSON.stringify(record), partition: String(record['IdDapil']) })),
        new Date(0),
      );
    },
    close() {},
  };
  const service = await startService({
    pipelines,
    source,
    keys: new ApiKeys([versionedKey]),
    host: '127.0.0.1',
    port: 0,
  });
  return {
    ...service,
    get version() {
      return state.version;
    },
    set version(version) {
      state.version = version;
    },
  };
}

function recordOf(
  pipeline: (typeof pipelines)[number],
  partition: string,
  regency: string,
  version: number,
): Record<string, string> {
  const place: Record<string, string> = {
    election_year: '2024',
    election_type: 'DPR-RI',
    dapil_id: partition,
    dapil_name: `DAPIL ${partition}`,
    province: 'ACEH',
    regency,
  };
  const figures: Record<string, number> = {};
  const figureOf = (name: string): number => {
    const check = sumChecks(pipeline).find(({ whole }) => whole === name);
    figures[name] ??= check === undefined ? version : check.parts.reduce((sum, part) => sum + figureOf(part), 0);
    return figures[name];
  };
  return Object.fromEntries(
    Object.entries(pipeline.columns).map(([name, { field, kind }]) => [
      field,
      kind === 'count' ? String(figureOf(name)) : place[name]!,
    ]),
  );
}
