/** What every section of the report goes by. */

import { type Figures, mostRows } from './figures.ts';
import { type Html, html } from '../../src/runtime/html.ts';
import type { Words } from './words.ts';
import type { AnswerOfRecord, Language, Project } from '../../src/pipeline.ts';
import type { Manifest } from '../../src/warehouse/snapshot-format.ts';

export interface Page {
  readonly own: Words;
  readonly language: Language;
  readonly figures: Figures;
  readonly manifest: Manifest;
  readonly answers: readonly AnswerOfRecord[];
  readonly project: Project;
  readonly number: (value: number) => string;
  readonly percent: (value: number | null) => string;
}

/** Says of a list that is cut off that there is more. */
export function more({ own, number }: Page, shown: number): Html | null {
  return shown < mostRows ? null : html`<p class="quiet">${own.more(`> ${number(shown)}`)}</p>`;
}

/** 2026-11-20 03:00 */
export function minute(time: string): string {
  return time.slice(0, 16).replace('T', ' ');
}
