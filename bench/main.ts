/** `make bench`: measures the sections named as arguments, or all short ones, and prints one table. */

import { readFile, writeFile } from 'node:fs/promises';
import { cpus, platform, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { renderTable } from '../src/cli/print/table.ts';
import { benchBulk, benchLong } from './bulk.ts';

import { benchFeed } from './feed.ts';
import { benchFeedPeers } from './feed-peers.ts';
import { type Finding, headings, numberColumns, tableRows } from './finding.ts';
import { benchList } from './list.ts';
import { benchLoad } from './load.ts';
import { benchNation } from './nation.ts';
import { benchNight } from './night.ts';
import { benchPeers } from './peers.ts';
import { benchQuery } from './query.ts';
import { renderPage, replaceBounds } from './report-page.ts';
import { benchServe } from './serve.ts';
import { benchStartup } from './startup.ts';
import { benchTransform } from './transform.ts';

const short = new Map([
  ['startup', benchStartup],
  ['query', benchQuery],
  ['serve', benchServe],
  ['transform', benchTransform],
  ['load', benchLoad],
  ['nation', benchNation],
  ['list', benchList],
  ['night', benchNight],
  ['feed', benchFeed],
  ['bulk', benchBulk],
]);
/** These take many minutes, or install something, so they run only if they are named. */
const sections = new Map([...short, ['long', benchLong], ['peers', benchPeers], ['feed-peers', benchFeedPeers]]);

const report = 'report';
const page = fileURLToPath(new URL('../../docs/explanation/performance.md', import.meta.url));
const guide = fileURLToPath(new URL('../../CONTRIBUTING.md', import.meta.url));
const measured = `Node ${process.version} on ${platform()}, ${cpus().length} cores (${cpus()[0]?.model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GB`;

const named = process.argv.slice(2);
const names = named.includes(report)
  ? [...short.keys(), 'peers', ...named.filter((name) => name !== report)]
  : named.length > 0
    ? named
    : [...short.keys()];
const unknown = names.filter((name) => !sections.has(name));
if (unknown.length > 0)
  throw new Error(`There is no section ${unknown.join(', ')}. The sections are ${[...sections.keys()].join(', ')}.`);

const findings: Finding[] = [];
for (const name of names) {
  process.stderr.write(`${name} …\n`);
  findings.push(...(await sections.get(name)!()));
}
process.stdout.write(`\n${renderTable(tableRows(findings), { head: headings, right: numberColumns })}\n\n${measured}.
Compare ratios within one run. Times depend on the machine and on what else it does.\n`);
if (named.includes(report)) {
  await writeFile(page, renderPage(findings, measured));
  await writeFile(guide, replaceBounds(await readFile(guide, 'utf8'), findings));
  process.stdout.write(`Wrote ${page} and ${guide}.\n`);
}
