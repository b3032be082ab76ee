/** rekap test: syncs the sample of a project through faults, and shows what was exact and what was refused. */

import { parseFaults } from './faults.ts';
import { declareCommand } from './options/option.ts';
import { allOptions, pick } from './options/all-options.ts';
import { loadChosenProject } from './project.ts';
import { RekapError } from '../errors.ts';
import type { FaultTrial } from '../testing/try-faults.ts';
import { countOf } from '../runtime/text.ts';

const words: Readonly<Record<FaultTrial['outcome'], string>> = {
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
  async run({ project: folder, faults, json }) {
    const [
      { tryFaults },
      { faultList },
      { listenForSignals },
      { paint, printJson },
      { inColumns, terminalColumns },
      { mkdtemp, rm },
      { tmpdir },
      { join },
    ] = await Promise.all([
      import('../testing/try-faults.ts'),
      import('../serve/faults/fault-list.ts'),
      import('./signals.ts'),
      import('./print/terminal.ts'),
      import('./print/wrap-text.ts'),
      import('node:fs/promises'),
      import('node:os'),
      import('node:path'),
    ]);
    const values = parseFaults((faults ?? ['hostile']).join(','));
    const project = await loadChosenProject(folder);
    const temporary = await mkdtemp(join(tmpdir(), 'rekap-test-'));
    const signals = listenForSignals();
    const trials: FaultTrial[] = [];
    try {
      for await (const trial of tryFaults({
        project,
        faults: values,
        seed: 1,
        folder: temporary,
        signal: signals.signal,
      })) {
        trials.push(trial);
        if (process.stderr.isTTY && !json)
          process.stderr.write(`\r\u001b[K${trials.length} ${trial.fault ?? 'all together'}: ${words[trial.outcome]}`);
      }
    } finally {
      if (process.stderr.isTTY && !json) process.stderr.write('\r\u001b[K');
      signals.stop();
      await rm(temporary, { recursive: true, force: true });
    }
    const described = trials.map(({ fault, outcome, responses, published, error }) => ({
      fault,
      outcome,
      responses,
      published,
      error: error === null ? null : { code: error.code, message: error.message },
    }));
    const records = trials[0]?.records ?? 0;
    if (json) printJson({ project: project.name, records, trials: described });
    else {
      const sentenceOf = (name: string | null): string =>
        faultList.find((one) => one.name === name)?.sentence ?? 'all of these at their usual rates';
      const rows = trials.map(
        ({ fault, outcome, responses }) =>
          [rowOf(fault ?? 'all together', String(responses), words[outcome]), sentenceOf(fault)] as const,
      );
      const width = terminalColumns(process.stdout) ?? 120;
      const lines = inColumns([[rowOf('fault', 'responses', 'result'), 'what happens'], ...rows], width);
      process.stdout.write(`${lines.join('\n')}\n\n`);
      const count = (outcome: FaultTrial['outcome']): number =>
        trials.filter((trial) => trial.outcome === outcome).length;
      const summary = [
        `${count('exact')} exact`,
        `${count('refused')} refused`,
        ...(count('moved') > 0 ? [`${count('moved')} source changed`] : []),
        ...(count('unnoticed') > 0 ? [`${count('unnoticed')} with records lost`] : []),
        ...(count('unused') > 0 ? [`${count('unused')} not used`] : []),
      ];
      process.stdout.write(
        `${paint('bold', countOf(trials.length, 'trial'))} with the ${countOf(records, 'record')} of the sample: ${summary.join(', ')}.\nOnly a sync shows whether the list of the source is complete.\n`,
      );
    }
    const under = (outcome: FaultTrial['outcome']): FaultTrial[] => trials.filter((trial) => trial.outcome === outcome);
    const nameOf = ({ fault }: FaultTrial): string => fault ?? 'all faults together';
    const wrong = under('wrong');
    if (wrong.length > 0)
      throw new RekapError(
        'verification',
        `A sync published wrong records under ${wrong.map(nameOf).join(', ')}.`,
        `This is a bug in rekap. Report it with the project and the sample.`,
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

function rowOf(fault: string, responses: string, result: string): string {
  return `${fault.padEnd(12)}  ${responses.padStart(9)}  ${result.padEnd(14)}`;
}
