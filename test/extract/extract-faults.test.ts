/** With any combination of deliberate faults, an extraction returns the exact records, or refuses. */

import { describe, expect, it } from 'vitest';
import { RekapError } from '../../src/errors.ts';
import { drawNumber } from '../../src/serve/faults/chance.ts';
import { faultList, type FaultName } from '../../src/serve/faults/fault-list.ts';
import { describeRecord, faultySource } from '../support/faulty-source.ts';
import { runExtract, type Extracted } from '../support/run-extract.ts';
import { smallNation } from '../support/served-source.ts';

/** Records, faults and settings, all computed from the seed. */
function makeCase(seed: number, names: readonly FaultName[]) {
  const draw = (purpose: string): number => drawNumber([seed, 'case', purpose]);
  const pick = <Item>(purpose: string, items: readonly Item[]): Item =>
    items[Math.floor(draw(purpose) * items.length)]!;
  const longest = pick('length', [8, 12, 60]);
  const partitions = Array.from({ length: 1 + Math.floor(draw('partitions') * 7) }, (_, index) => 1101 + index);
  const sizes = Object.fromEntries(
    partitions.map((partition) => [partition, 1 + Math.floor(draw(`size ${partition}`) * longest)] as const),
  );
  const share = pick('share', [0.15, 0.3, 0.5]);
  const values = Object.fromEntries(
    names
      .filter((name) => draw(`on ${name}`) < share)
      .map((name) => [
        name,
        name === 'clamp' ? 1 + Math.floor(draw('clamp') * 12) : pick(name, [0.01, 0.02, 0.05, 0.1, 0.3]),
      ]),
  );
  const settings = {
    pageSize: pick('page size', [1, 2, 3, 5, 10, 25, 100]),
    concurrency: pick('concurrency', [1, 2, 4]),
    heldBytes: pick('held', [0, 3000, 1_000_000]),
    maxRecords: 3000,
    // A hidden partition can only be found if something else names it.
    reference: 'hide' in values || draw('known') < 0.5 ? partitions : [],
  };
  return { records: smallNation(sizes).datapemilihdpr, values, settings };
}

/** The delivered records, or null if the extraction was refused or incomplete. */
async function attempt(run: Promise<Extracted>): Promise<readonly string[] | null> {
  try {
    const { verdicts, delivered } = await run;
    return verdicts.every(({ complete }) => complete) ? delivered : null;
  } catch (error) {
    if (error instanceof RekapError) return null;
    throw error;
  }
}

const runs = Number(process.env['REKAP_FUZZ_RUNS'] ?? 60);
const paging = faultList.filter(({ affects }) => affects === 'records').map(({ name }) => name);

describe('an extraction from a service with faults', () => {
  it('returns the exact records, or refuses', async () => {
    let exact = 0;
    for (let seed = 1; seed <= runs; seed += 1) {
      const { records, values, settings } = makeCase(seed, paging);
      const delivered = await attempt(runExtract(faultySource(records, values, seed), settings));
      if (delivered === null) continue;
      expect([...new Set(delivered)].toSorted(), `seed ${seed}: ${JSON.stringify({ values, settings })}`).toEqual(
        records.map(describeRecord).toSorted(),
      );
      exact += 1;
    }
    // Refusing everything would pass too.
    expect(exact).toBeGreaterThan(runs / 4);
  });

  it('loses and invents no record while the source changes', async () => {
    let delivering = 0;
    for (let seed = 1; seed <= runs; seed += 1) {
      const { records, values, settings } = makeCase(seed, paging);
      const source = faultySource(records, { ...values, drift: 0.03 }, seed);
      const delivered = await attempt(runExtract(source, settings));
      if (delivered === null) continue;
      const names = new Set(delivered.map((record) => record.replace(/ \d+$/, '')));
      const lost = [...source.stable].filter((name) => !names.has(name));
      const invented = delivered.filter((record) => !source.served.has(record));
      expect({ seed, values, settings, lost, invented }).toEqual({ seed, values, settings, lost: [], invented: [] });
      delivering += 1;
    }
    expect(delivering).toBeGreaterThan(runs / 8);
  });
});
