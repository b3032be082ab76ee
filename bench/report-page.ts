/** Writes the results into the documents: what a user asks first, all figures, and for developers their bounds. */

import { type Finding, formatDuration, formatMegabytes, headings, numberColumns, tableRows } from './finding.ts';

/** The columns of a reader: without bounds. */
const shown = 5;

/** @param machine Versions and hardware. */
export function renderPage(findings: readonly Finding[], machine: string): string {
  const find = (section: string, what: string, reference = ''): Finding => {
    const found = findings.find(
      (each) => each.section.startsWith(section) && each.what.startsWith(what) && each.reference.endsWith(reference),
    );
    if (found === undefined) throw new Error(`There is no figure "${what}" of ${section}.`);
    return found;
  };
  const nation = find('nation', 'sync, wall');
  const million = find('bulk (1,', 'sync, wall');
  const peak = find('bulk (1,', 'peak');
  const night = find('night', 'sync');
  const table = tableRows(findings).map((row) => row.slice(0, shown));
  const peers = (section: string): string =>
    ['sling, to CSV', 'dlt, pyarrow tables', 'dlt, Parquet loader', 'dlt, default']
      .map((name) => {
        const [wall, cpu] = ['wall', 'CPU'].map((kind) => find(section, `rekap sync, ${kind}`, name));
        return `| ${name} | ${formatDuration(wall!.against)} | ${formatDuration(cpu!.against)} |`;
      })
      .join('\n');
  const ours = (section: string): string =>
    `| **rekap** | ${['wall', 'CPU'].map((kind) => formatDuration(find(section, `rekap sync, ${kind}`).measured)).join(' | ')} |`;
  return `# Performance

- A nation takes ${formatDuration(nation.measured)}: ${nation.reference.replace('for ', '').replace(/ × .*/, '')} to a service that takes 50 ms for each.
- A million records take ${formatDuration(million.measured)} and ${formatMegabytes(peak.measured)} of memory.
- A night without changes takes ${formatDuration(night.measured)} for 200,000 records, the first one ${formatDuration(night.against)}.

dlt and sling read each record once. rekap reads it twice, stores every response, proves that each list is complete, checks the figures, and
verifies what it publishes. For 200,000 records of one list, without delay:

| tool | time | CPU time |
| --- | ---: | ---: |
${ours('peers (200')}
${peers('peers (200')}

For both lists of a nation, partition by partition, eight requests at a time:

| tool | time | CPU time |
| --- | ---: | ---: |
${ours('peers (84')}
${peers('peers (84')}

Measured on ${new Date().toISOString().slice(0, 10)} with ${machine}. Another process was the source, on the same cores.

## All figures

Each line compares two figures from the same run, so that the speed of the machine matters little. A sync of many records is compared with
\`JSON.parse\` of all bytes that it receives, and a sync of a slow source with the time that its requests need at least. \`make bench\`
measures most of them on your machine.

${tableOf(headings.slice(0, shown), table)}
`;
}

/** Replaces the table of bounds in a document, between its heading and the next one. */
export function replaceBounds(document: string, findings: readonly Finding[]): string {
  const rows = tableRows(findings).flatMap((row, index) => {
    const { section, what, reference, target } = findings[index]!;
    return target === null ? [] : [[section, `${what} / ${reference.replace(/^(for|with) /, '')}`, ...row.slice(4)]];
  });
  const heading = '## Bounds of performance\n';
  const [before, after = ''] = document.split(heading);
  const rest = after.slice(after.indexOf('\n## '));
  const head = ['section', 'figure', ...headings.slice(4)];
  return `${before}${heading}
\`make bench-report\` writes this table. Each figure must reach the first bound, and should reach the second.

${tableOf(head, rows)}
${rest}`;
}

function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const rule = head.map((name) => (numberColumns.some((column) => headings[column] === name) ? '---:' : '---'));
  return [head, rule, ...rows].map(line).join('\n');
}
