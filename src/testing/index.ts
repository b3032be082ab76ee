/** rekap/testing: a source with faults, and a clock, for tests with any test runner. */

export { faultList, presetValues } from '../serve/faults/fault-list.ts';
export type { FaultName, FaultValues } from '../serve/faults/fault-list.ts';
export { manualClock, type ManualClock } from './manual-clock.ts';
export { type SourceRecords, type SourceSettings, startSource, type TestSource } from './start-source.ts';
