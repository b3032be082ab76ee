/** The records of a small source: three partitions of twelve regencies each. */

import type { SimulatedRecord } from '../support/simulated-source.ts';

/** Leaves nothing to chance. */
export const half = (): number => 0.5;

export const records: readonly SimulatedRecord[] = [1101, 1102, 1103].flatMap((partition) =>
  Array.from({ length: 12 }, (_, place) => ({ partition, regency: `R${place}`, people: place })),
);

/** The same as `runExtract` names what it delivered, in order. */
export const named = records.map(({ partition, regency, people }) => `${partition} ${regency} ${people}`).toSorted();
