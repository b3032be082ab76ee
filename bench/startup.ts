/** How long `rekap --help` and `--version` take. `loaded-modules.test.ts` checks that they load no heavy modules. */

import { formatDuration, median, type Finding } from './finding.ts';
import { command, timeNode } from './measure.ts';

const rounds = 15;

export async function benchStartup(): Promise<Finding[]> {
  const bare: number[] = [];
  const help: number[] = [];
  const version: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    bare.push(await timeNode(['-e', '0']));
    help.push(await timeNode([command, '--help']));
    version.push(await timeNode([command, '--version']));
  }
  const section = 'startup';
  const reference = 'for node -e 0';
  const target = { atMost: { must: 2.2, aim: 1.7 } };
  const against = median(bare);
  return [
    { section, what: '--help', measured: median(help), against, reference, target, format: formatDuration },
    { section, what: '--version', measured: median(version), against, reference, target, format: formatDuration },
  ];
}
