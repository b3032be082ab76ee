/** Defines the input of every section of the report. */

import type { Count, Figure, Printer } from './figure.ts';
import type { Election } from './election.ts';
import { html, type Html } from '../../src/runtime/html.ts';
import type { Words } from './words-english.ts';
import type { Project } from '../../src/project/declaration.ts';
import type { StoredResponse } from '../../src/report/own-sections.ts';
import type { Manifest } from '../../src/warehouse/snapshot-format.ts';

export interface Page {
  readonly own: Words;
  readonly print: Printer;
  readonly election: Election;
  readonly manifest: Manifest;
  readonly responses: readonly StoredResponse[];
  readonly project: Project;
}

export function manifestCount(pointer: string, count: number): Count {
  return { name: `manifest#${pointer}`, count: BigInt(count) };
}

/** Returns the number of a count, to choose between singular and plural. */
export function amount({ count }: Count): number {
  return Number(count ?? 0n);
}

/** Returns a sentence about rows that aren't shown; null if there are none. */
export function remainder(left: Count, say: (shown: Html, n: number) => Html, { print }: Page): Html | null {
  return amount(left) === 0 ? null : html`<p class="quiet">${say(print.show(left), amount(left))}</p>`;
}

export function minute(time: string): Html {
  return html`<time datetime="${time}">${time.slice(0, 16).replace('T', ' ')}</time>`;
}

export function constant(value: number): Figure {
  return { name: 'constant', count: BigInt(value) };
}
