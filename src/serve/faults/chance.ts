/** Draws reproducible random numbers that depend only on the seed and the request. */

import { createHash } from 'node:crypto';
import type { FaultName, FaultValues } from './fault-list.ts';

/** Returns a pseudorandom number from 0 to 1 (exclusive) that depends only on `parts`. */
export function drawNumber(parts: readonly (string | number)[]): number {
  const digest = createHash('sha256').update(parts.join('\n')).digest();
  // A double stores 48 bits exactly.
  return digest.readUIntBE(0, 6) / 2 ** 48;
}

/** Draws for one request. They depend on the request and on how often it was sent, but not on the order of parallel requests. */
export class Chance {
  readonly values: FaultValues;
  readonly seed: number;
  readonly #request: string;

  constructor({ values, seed }: Pick<Chance, 'values' | 'seed'>, request: string, attempt: number) {
    this.values = values;
    this.seed = seed;
    this.#request = `${request}\n${attempt}`;
  }

  strikes(name: FaultName): boolean {
    return this.number(name) < (this.values[name] ?? 0);
  }

  /** Returns a number from 0 to 1 (exclusive). `purpose` separates draws for different things. */
  number(purpose: string): number {
    return drawNumber([this.seed, this.#request, purpose]);
  }

  whole(purpose: string, min: number, max: number): number {
    return min + Math.floor(this.number(purpose) * (max - min + 1));
  }

  /** Returns the items in another order, in which none keeps its position (Sattolo's algorithm). */
  reorder<Item>(items: readonly Item[]): Item[] {
    const reordered = [...items];
    for (let last = reordered.length - 1; last > 0; last -= 1) {
      const other = this.whole(`place ${last}`, 0, last - 1);
      [reordered[last], reordered[other]] = [reordered[other]!, reordered[last]!];
    }
    return reordered;
  }
}
