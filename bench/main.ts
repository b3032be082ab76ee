/** `make bench`: runs the sections named as arguments, or all, and prints one table. Figures are printed, never asserted. */

import { cpus, platform } from 'node:os';
import { benchBulk, benchLong } from './bulk.ts';
import { renderFindings, type Finding } from './finding.ts';
import { benchDlt } from './dlt.ts';
import { benchLoad } from './load.ts';
import { benchNation } from './nation.ts';
import { benchStartup } from './startup.ts';
import { benchTransform } from './transform.ts';

const sections = new Map<string, () => Promise<Finding[]>>([
  ['startup', benchStartup],
  ['transform', benchTransform],
  ['load', benchLoad],
  ['nation', benchNation],
  ['bulk', benchBulk],
]);

/** These take minutes, or something that is not there, so they run only when they are named. */
const long = new Map([
  ['long', benchLong],
  ['dlt', benchDlt],
]);

const named = process.argv.slice(2);
const known = new Map([...sections, ...long]);
const unknown = named.filter((name) => !known.has(name));
if (unknown.length > 0) throw new Error(`No section ${unknown.join(', ')}; there are ${[...known.keys()].join(', ')}.`);

const findings: Finding[] = [];
for (const [name, bench] of known) {
  if (named.length > 0 ? !named.includes(name) : long.has(name)) continue;
  process.stderr.write(`${name} …\n`);
  findings.push(...(await bench()));
}
process.stdout.write(`\n${renderFindings(findings)}\n
Node ${process.version}, ${platform()}, ${cpus().length} cores. Only ratios within one run count: times depend on the machine and on
what else it does. A target says how many times the figure in "against" the measured one may be.\n`);
