/** `make fuzz`: tries each property of the tests for an equal share of the time given, and prints how many inputs each was tried with. */

import { availableParallelism } from 'node:os';
import { relative } from 'node:path';
import { createVitest, type TestCase, type TestModule } from 'vitest/node';
import { renderTable } from '../../src/cli/table.ts';

const [seconds, seed] = readArguments(process.argv.slice(2));
const workers = availableParallelism();
const vitest = await createVitest('test', {
  watch: false,
  tagsFilter: ['property'],
  maxWorkers: workers,
  reporters: [['default', { summary: false }]],
  hideSkippedTests: true,
});
const declared = propertiesOf((await vitest.collect()).testModules);
const share = (seconds * workers) / Math.max(1, declared.length);
// Read by test/support/properties.ts.
process.env['REKAP_FUZZ_SEED'] = String(seed);
process.env['REKAP_FUZZ_SECONDS'] = share.toFixed(2);
process.stdout.write(`${declared.length} properties, ${share.toFixed(1)} s for each, seed ${seed}\n`);
const { testModules } = await vitest.start([...new Set(declared.map(({ module }) => module.moduleId))]);
process.stdout.write(`\n${describeRun(propertiesOf(testModules))}\n`);
await vitest.close();

/** Seconds in all, and the seed: chance's where none is given. */
function readArguments([inAll = '180', given = '']: string[]): [seconds: number, seed: number] {
  const chosen = given === '' ? Math.floor(Math.random() * 2 ** 31) : Number(given);
  if (!(Number(inAll) > 0) || !Number.isInteger(chosen))
    throw new Error('Give the seconds in all and the seed as numbers: make fuzz SECONDS=600 SEED=7');
  return [Number(inAll), chosen];
}

function propertiesOf(modules: readonly TestModule[]): TestCase[] {
  return modules.flatMap(({ children }) => [...children.allTests()]).filter(({ tags }) => tags.includes('property'));
}

function describeRun(properties: readonly TestCase[]): string {
  const inOrder = properties.toSorted((a, b) => (a.module.moduleId < b.module.moduleId ? -1 : 1));
  const rows = inOrder.map((property) => {
    const file = relative('test', property.module.moduleId).replace('.test.ts', '');
    const cases = property.meta().tried?.cases;
    return [file, property.fullName, cases === undefined ? 'FAILED' : cases.toLocaleString('en')];
  });
  const total = properties.reduce((sum, property) => sum + (property.meta().tried?.cases ?? 0), 0);
  const failed = properties.filter((property) => property.meta().tried === undefined).length;
  const table = renderTable([...rows, ['', 'total', total.toLocaleString('en')]], {
    head: ['file', 'property', 'cases'],
    right: [2],
  });
  const verdict = failed === 0 ? `All ${rows.length} held.` : `${failed} of ${rows.length} FAILED; see above.`;
  return `${table}\n\n${verdict} The same again: make fuzz SECONDS=${seconds} SEED=${seed}`;
}
