/** Chance that can be repeated: every draw follows from the seed and from what was asked, never from what came before. */

import { createHash } from 'node:crypto';
import type { FaultName, FaultValues } from './fault-list.ts';

/** A number from 0 up to but not including 1 that looks random and is the same for the same parts. */
export function drawNumber(parts: readonly (string | number)[]): number {
  const digest = createHash('sha256').update(parts.join('\n')).digest();
  // As many bits as a double holds exactly.
  return digest.readUIntBE(0, 6) / 2 ** 48;
}

/**
 * The draws for one request. They depend on the request and on how often the very same was asked before: requests in
 * parallel get the same answers in whatever order they arrive, and a request that is repeated draws anew.
 */
export class Chance {
  readonly values: FaultValues;
  readonly seed: number;
  readonly #request: string;

  constructor({ values, seed }: Pick<Chance, 'values' | 'seed'>, request: string, turn: number) {
    this.values = values;
    this.seed = seed;
    this.#request = `${request}\n${turn}`;
  }

  /** Whether a fault that has a rate strikes now. */
  strikes(name: FaultName): boolean {
    return this.number(name) < (this.values[name] ?? 0);
  }

  /** From 0 up to but not including 1; `purpose` keeps draws for different things apart. */
  number(purpose: string): number {
    return drawNumber([this.seed, this.#request, purpose]);
  }

  /** A whole number from `least` to `most`. */
  whole(purpose: string, least: number, most: number): number {
    return least + Math.floor(this.number(purpose) * (most - least + 1));
  }

  /** The items in another order, in which none keeps its place where there are two or more (Sattolo's algorithm). */
  reorder<Item>(items: readonly Item[]): Item[] {
    const reordered = [...items];
    for (let last = reordered.length - 1; last > 0; last -= 1) {
      const other = this.whole(`place ${last}`, 0, last - 1);
      [reordered[last], reordered[other]] = [reordered[other]!, reordered[last]!];
    }
    return reordered;
  }
}
