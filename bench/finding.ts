/** What a benchmark found, always as one ratio: what was measured against what it is held to in the same run. */

import { renderTable } from '../src/cli/print/table.ts';

/** One line of the table. */
export interface Finding {
  readonly section: string;
  readonly what: string;
  readonly measured: number;
  /** What it is compared with, and in words what that is. */
  readonly against: number;
  readonly reference: string;
  /** The bound on measured / against; null for a figure that explains another. */
  readonly target: { readonly atMost: number } | { readonly atLeast: number } | null;
  /** Writes both figures. */
  readonly format: (value: number) => string;
}

/** The findings as a table for people: one line each, the target and whether it is met. */
export function renderFindings(findings: readonly Finding[]): string {
  return renderTable(
    findings.map((finding, index) => [
      finding.section === findings[index - 1]?.section ? '' : finding.section,
      finding.what,
      finding.format(finding.measured),
      `${finding.format(finding.against)} ${finding.reference}`,
      ratioOf(finding).toFixed(2),
      ...judge(finding),
    ]),
    { head: ['section', 'what', 'measured', 'against', 'ratio', 'target', 'met'], right: [2, 4, 5] },
  );
}

/** The middle value; of an even number of values the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return (sorted[Math.ceil(middle) - 1]! + sorted[Math.floor(middle)]!) / 2;
}

/** 1.38 s, or 64 ms below a second. */
export function formatDuration(milliseconds: number): string {
  return milliseconds < 1000 ? `${milliseconds.toFixed(0)} ms` : `${(milliseconds / 1000).toFixed(2)} s`;
}

/** 187 MB. */
export function formatMegabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(0)} MB`;
}

function ratioOf({ measured, against }: Finding): number {
  return measured / against;
}

/** The target in words, and whether it is met. */
function judge(finding: Finding): [target: string, met: string] {
  const { target } = finding;
  if (target === null) return ['', ''];
  const ratio = ratioOf(finding);
  const isMet = 'atMost' in target ? ratio <= target.atMost : ratio >= target.atLeast;
  return ['atMost' in target ? `≤ ${target.atMost}` : `≥ ${target.atLeast}`, isMet ? 'yes' : 'NO'];
}
