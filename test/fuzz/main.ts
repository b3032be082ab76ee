/**
 * `make fuzz`: tries each property of the tests for an equal share of the time given, and prints how many inputs each was tried with.
 * The time bounds the trying alone: to load the tests, and to end the input under way, takes as long as it takes.
 */

import { availableParallelism } from 'node:os';
import { relative } from 'node:path';
import { createVitest, type TestCase, type TestModule } from 'vitest/node';
import { describeRun, type PropertyOutcome } from './describe-run.ts';

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
const { testModules, unhandledErrors } = await vitest.start([
  ...new Set(declared.map(({ module }) => module.moduleId)),
]);
const isSound = unhandledErrors.length === 0 && testModules.every((module) => module.ok());
process.stdout.write(`\n${describeRun(outcomesOf(propertiesOf(testModules)), isSound)}`);
process.stdout.write(` The same again: make fuzz SECONDS=${seconds} SEED=${seed}\n`);
await vitest.close();

/** Seconds of trying over all properties, and the seed: chance's where none is given. */
function readArguments([inAll = '180', given = '']: string[]): [seconds: number, seed: number] {
  const chosen = given === '' ? Math.floor(Math.random() * 2 ** 31) : Number(given);
  if (!(Number(inAll) > 0) || !Number.isInteger(chosen))
    throw new Error('Give the seconds of trying and the seed as numbers: make fuzz SECONDS=600 SEED=7');
  return [Number(inAll), chosen];
}

function propertiesOf(modules: readonly TestModule[]): TestCase[] {
  return modules.flatMap(({ children }) => [...children.allTests()]).filter(({ tags }) => tags.includes('property'));
}

function outcomesOf(properties: readonly TestCase[]): PropertyOutcome[] {
  const inOrder = properties.toSorted((a, b) => (a.module.moduleId < b.module.moduleId ? -1 : 1));
  return inOrder.map((property) => ({
    file: relative('test', property.module.moduleId).replace('.test.ts', ''),
    property: property.fullName,
    held: property.result().state === 'passed',
    cases: property.meta().tried?.cases ?? 0,
  }));
}
