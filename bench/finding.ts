/** The results of benchmarks: ratios of two figures that were measured in the same run. */

/** One line of the table. */
export interface Finding {
  readonly section: string;
  readonly what: string;
  readonly measured: number;
  /** The figure to compare with, and what it is. */
  readonly against: number;
  readonly reference: string;
  /** Bounds of measured / against; null for a figure that explains another. */
  readonly target: Target | null;
  readonly format: (value: number) => string;
}

export type Target = { readonly [Direction in 'atMost' | 'atLeast']?: Bounds };

/** What the ratio must reach, and what would be better still. */
interface Bounds {
  readonly must: number;
  readonly aim: number;
}

export const headings = ['section', 'work', 'measured', 'against', 'ratio', 'must', 'aim', 'met'] as const;
/** Columns of `tableRows` that hold numbers. */
export const numberColumns: readonly number[] = [2, 4, 5, 6];

/** Returns the findings as rows of a table. A section is named in its first row. */
export function tableRows(findings: readonly Finding[]): string[][] {
  return findings.map((finding, index) => [
    finding.section === findings[index - 1]?.section ? '' : finding.section,
    finding.what,
    finding.format(finding.measured),
    `${finding.format(finding.against)} ${finding.reference}`,
    ratioOf(finding).toFixed(2),
    ...judge(finding),
  ]);
}

/** Returns the middle value, or the mean of the two middle values. */
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

/** 12,345 per second. */
export function formatRate(perSecond: number): string {
  return `${Math.round(perSecond).toLocaleString('en')}/s`;
}

function ratioOf({ measured, against }: Finding): number {
  return measured / against;
}

function judge(finding: Finding): [must: string, aim: string, met: string] {
  const { atMost, atLeast } = finding.target ?? {};
  const bounds = atMost ?? atLeast;
  if (bounds === undefined) return ['', '', ''];
  const ratio = ratioOf(finding);
  const reaches = (bound: number): boolean => (atMost === undefined ? ratio >= bound : ratio <= bound);
  const sign = atMost === undefined ? '≥' : '≤';
  const met = reaches(bounds.aim) ? 'aim' : reaches(bounds.must) ? 'must' : '–';
  return [`${sign} ${bounds.must}`, `${sign} ${bounds.aim}`, met];
}
