/** Declares properties: tests that hold for any input. `make test` tries some inputs of each, `make fuzz` as many as fit into its time. */

import fc from 'fast-check';
import { relative } from 'node:path';
import { it, type TestContext } from 'vitest';

/** What one property came to. */
interface Tried {
  /** Inputs that it was tried with. */
  readonly cases: number;
  readonly seed: number;
}

declare module 'vitest' {
  interface TaskMeta {
    /** Of a property that held. */
    tried?: Tried;
  }
}

export interface HoldsOptions {
  /** Inputs to try in `make test`, so that all properties together take a few seconds. */
  readonly runs: number;
  /** What must be so once all inputs were tried, such as that not all of them were refused. */
  afterwards?(tried: Tried): void;
}

/**
 * A test that the property holds. The seed is chance's unless REKAP_FUZZ_SEED gives it; REKAP_FUZZ_PATH leads to the one failing
 * input of that seed. REKAP_FUZZ_SECONDS tries inputs for so long, instead of `runs` of them.
 */
export function holds<Input>(
  title: string,
  property: fc.IProperty<Input> | fc.IAsyncProperty<Input>,
  { runs, afterwards }: HoldsOptions,
): void {
  const seconds = numberFrom('REKAP_FUZZ_SECONDS');
  const seed = numberFrom('REKAP_FUZZ_SEED');
  const path = process.env['REKAP_FUZZ_PATH'] ?? null;
  const parameters: fc.Parameters<Input> = {
    ...(seconds === null
      ? { numRuns: runs }
      : // One input is always tried; shrinking a failure comes to an end with the time too.
        { numRuns: Number.MAX_SAFE_INTEGER, interruptAfterTimeLimit: seconds * 1000 }),
    ...(seed === null ? {} : { seed }),
    ...(path === null ? {} : { path }),
  };
  const patience = seconds === null ? {} : { timeout: (seconds + 60) * 1000 };
  it(title, { tags: ['property'], ...patience }, async ({ task }) => {
    const lastCase = noteLastCase(property as fc.IRawProperty<Input>);
    const outcome = await fc.check(property as fc.IRawProperty<Input>, parameters);
    await lastCase();
    if (outcome.failed) {
      const report = (await fc.asyncDefaultReportMessage(outcome)) ?? '';
      throw new Error(`${report}\n\n${howToRepeat(task, outcome)}`, { cause: outcome.errorInstance });
    }
    const tried = { cases: outcome.numRuns, seed: outcome.seed };
    task.meta.tried = tried;
    // One input that is tried again says nothing about all of them.
    if (path === null) afterwards?.(tried);
  });
}

/** When its time is up, fast-check turns away from the case under way; what a test clears up afterwards must wait for it. */
function noteLastCase<Input>(property: fc.IRawProperty<Input>): () => Promise<unknown> {
  const run = property.run.bind(property);
  let last: ReturnType<typeof run> = null;
  property.run = (input) => (last = run(input));
  return async () => last;
}

function numberFrom(name: string): number | null {
  const text = process.env[name];
  if (text === undefined || text === '') return null;
  const value = Number(text);
  if (!Number.isFinite(value)) throw new TypeError(`${name} is ${JSON.stringify(text)}, no number.`);
  return value;
}

function howToRepeat(
  task: TestContext['task'],
  { seed, counterexamplePath }: { seed: number; counterexamplePath: string | null },
): string {
  const file = relative(process.cwd(), task.file.filepath);
  const title = task.name.replace(/[^\w ,:;]/g, '.');
  // The input before it was shrunk: fast-check shrinks it the same way again.
  const path = counterexamplePath?.split(':')[0] ?? '';
  return `To repeat it: REKAP_FUZZ_SEED=${seed} REKAP_FUZZ_PATH=${path} npx vitest run ${file} -t '${title}'`;
}
