/** rekap test: syncs the sample of a project through faults, and shows what was exact and what was refused. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listInColumns, parseFaults } from './faults.ts';
import { declareCommand } from './options/option.ts';
import { allOptions, pick } from './options/all-options.ts';
import { paint } from './print/terminal.ts';
import { createCounter } from './print/progress.ts';
import { terminalColumns } from './print/wrap-text.ts';
import { loadChosenProject } from './project.ts';
import { withSignals } from './signals.ts';
import { RekapError } from '../errors.ts';
import { faultList } from '../serve/faults/fault-list.ts';
import { type FaultTrial, tryFaults } from '../testing/try-faults.ts';
import { countOf } from '../runtime/text.ts';

type Outcome = FaultTrial['outcome'];

const words: Readonly<Record<Outcome, string>> = {
  exact: 'exact',
  refused: 'refused',
  moved: 'source changed',
  unnoticed: 'records lost',
  unused: 'not used',
  wrong: 'WRONG',
};

export const command = declareCommand({
  options: {
    ...pick('project', 'json'),
    faults: {
      ...allOptions.faults,
      describe: 'faults or presets to try, each alone and then all together; "rekap serve --help" lists them',
      defaultDescription: 'hostile',
    },
  },
  examples: [
    ['rekap test', 'try every fault'],
    ['rekap test --faults clamp 503', 'try a maximum page size and a busy source'],
  ],
  async run({ project: chosen, faults: given, json }) {
    const faults = parseFaults((given ?? ['hostile']).join(','));
    const project = await loadChosenProject(chosen);
    const folder = await mkdtemp(join(tmpdir(), 'rekap-test-'));
    const line = createCounter(json);
    const trials: FaultTrial[] = [];
    try {
      await withSignals({}, async (signal) => {
        for await (const trial of tryFaults({ project, faults, seed: 1, folder, signal })) {
          trials.push(trial);
          line.show(`${trials.length} ${trial.fault ?? 'all together'}: ${words[trial.outcome]}`);
        }
      });
    } finally {
      line.clear();
      await rm(folder, { recursive: true, force: true });
    }
    return { project: project.name, records: trials[0]?.records ?? 0, trials };
  },
  toJson: ({ trials, ...sample }) => ({
    ...sample,
    trials: trials.map(({ fault, outcome, responses, published, error }) => ({
      fault,
      outcome,
      responses,
      published,
      error: error === null ? null : { code: error.code, message: error.message },
    })),
  }),
  print({ records, trials }) {
    const rows = trials.map(({ fault, outcome, responses }) => {
      const sentence = faultList.find(({ name }) => name === fault)?.sentence;
      const result = `${String(responses).padStart(9)}  ${words[outcome]}`;
      return [fault ?? 'all together', result, sentence ?? 'all faults together'] as const;
    });
    const list = listInColumns(
      [['fault', 'responses  result', 'what happens'], ...rows],
      terminalColumns(process.stdout) ?? 120,
    );
    const counts = (['exact', 'refused', 'moved', 'unnoticed', 'unused'] as const).flatMap((outcome) => {
      const count = trials.filter((trial) => trial.outcome === outcome).length;
      const isUsual = outcome === 'exact' || outcome === 'refused';
      return count > 0 || isUsual ? [`${count} ${outcome === 'unnoticed' ? 'with ' : ''}${words[outcome]}`] : [];
    });
    return `${list}\n\n${paint('bold', countOf(trials.length, 'trial'))} with the ${countOf(records, 'record')} of the sample: ${counts.join(', ')}.
Only a sync shows whether the list of the source is complete.\n`;
  },
  finish({ records, trials }) {
    const under = (outcome: Outcome): FaultTrial[] => trials.filter((trial) => trial.outcome === outcome);
    const nameOf = ({ fault }: FaultTrial): string => fault ?? 'all faults together';
    const wrong = under('wrong');
    if (wrong.length > 0)
      throw new RekapError(
        'verification',
        `A sync published wrong records under ${wrong.map(nameOf).join(', ')}.`,
        'If the grade of proof of this list is "repeated", "chain" or "single", nothing in the responses shows the fault: declare a parameter for the page size, "reportedCount" or "hasMore". Otherwise, this is a bug in rekap; report it with the project and the sample.',
      );
    const lost = under('unnoticed');
    if (lost.length > 0)
      throw new RekapError(
        'verification',
        `A sync did not notice that records were missing: ${lost.map((trial) => `under ${nameOf(trial)}, it published ${trial.published} of ${records} records`).join('; ')}.`,
        'Only the full listing names the partitions, so rekap cannot notice one that is missing there. Declare `values` in the partition of the pipeline.',
      );
  },
});
