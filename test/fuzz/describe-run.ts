/** Says what became of each property in `make fuzz`, and of all of them. */

import { renderTable } from '../../src/cli/print/table.ts';

/** What one property came to. */
export interface PropertyOutcome {
  readonly file: string;
  readonly property: string;
  /** Whether the test passed, with all that it looks at after the last input. */
  readonly held: boolean;
  /** Inputs that it was tried with. */
  readonly cases: number;
}

/** @param isSound Whether the run around the properties went well: every file could be loaded, and nothing failed beside a test. */
export function describeRun(outcomes: readonly PropertyOutcome[], isSound: boolean): string {
  const rows = outcomes.map(({ file, property, held, cases }) => [
    file,
    property,
    held ? cases.toLocaleString('en') : 'FAILED',
  ]);
  const total = outcomes.reduce((sum, { cases }) => sum + cases, 0);
  const table = renderTable([...rows, ['', 'total', total.toLocaleString('en')]], {
    head: ['file', 'property', 'cases'],
    right: [2],
  });
  return `${table}\n\n${judge(outcomes, isSound)}`;
}

function judge(outcomes: readonly PropertyOutcome[], isSound: boolean): string {
  const failed = outcomes.filter(({ held }) => !held).length;
  if (failed > 0) return `${failed} of ${outcomes.length} FAILED; see above.`;
  return isSound ? `All ${outcomes.length} held.` : 'The run FAILED beside the properties; see above.';
}
