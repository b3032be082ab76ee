/** Draws the default report: totals, proofs, failed checks, changes at the source, and how to verify them. */

import type { Project } from '../project/declaration.ts';
import { describeReadings } from '../warehouse/describe-reading.ts';
import { namePartition } from '../project/partition-list.ts';
import { columnList, quoteText } from '../runtime/database.ts';
import { closedPage, folded, type Html, html, table } from '../runtime/html.ts';
import { countOf, formatDecimal, formatNumber } from '../runtime/text.ts';
import { changesTableName, type ManifestDataset, sampleNotice } from '../warehouse/snapshot-format.ts';
import { drawOwnSections, type ReportFacts } from './own-sections.ts';
import { style } from './style.ts';

const maxRows = 50;

/** Returns an HTML page without external resources. Always in English, unlike some projects' own reports. */
export async function drawReport(facts: ReportFacts): Promise<string> {
  const { project, manifest, pinned } = facts;
  const datasets = Object.entries(manifest.datasets);
  const titleOf = (name: string): string => project.pipelines.find((one) => one.table === name)?.title ?? name;
  const notice = sampleNotice(manifest);
  const content = html`<header>
      ${notice === null ? null : html`<p class="sample">${notice}</p>`}
      <h1>${project.title}</h1>
      ${project.description === project.title ? null : html`<p class="quiet">${project.description}</p>`}
      <p class="quiet">Read from <code>${manifest.source}</code> on ${minute(manifest.created_at)} UTC.</p>
      ${pinned === null ? null : html`<p><strong>${pinned === manifest.snapshot ? 'This snapshot is pinned.' : html`Snapshot <code>${pinned}</code> is pinned instead of this one.`}</strong></p>`}
    </header>
    <main>
      <ul class="tiles">
        ${datasets.map(
          ([name, { rows }]) => html`<li><strong>${formatNumber(rows)}</strong><span>${titleOf(name)}</span></li>`,
        )}
      </ul>
      ${totalsSection(facts)} ${await drawOwnSections(facts)} ${proofSection(facts)} ${await checksSection(facts)}
      ${await changesSection(facts)} ${methodSection(facts)}
    </main>
    <footer class="quiet">
      <p>Snapshot <code>${manifest.snapshot}</code>, <code>rekap ${manifest.tool.version}</code></p>
    </footer>`;
  return closedPage({ language: 'en', title: project.title, style, content });
}

function minute(time: string): Html {
  return html`<time datetime="${time}">${time.slice(0, 16).replace('T', ' ')}</time>`;
}

function totalsSection({ manifest, project }: ReportFacts): Html | null {
  const totals = project.pipelines.flatMap(({ table: name, columns, watch }) => {
    const { sums = {}, nulls = {} } = manifest.datasets[name] ?? {};
    return Object.entries(sums).map(([column, sum]) => ({
      isWatched: watch.includes(column),
      row: [
        html`<code>${name}.${column}</code>`,
        columns[column]?.comment ?? '',
        formatDecimal(sum),
        formatNumber(nulls[column] ?? 0),
      ],
    }));
  });
  if (totals.length === 0) return null;
  const rowsOf = (isWatched: boolean) => totals.filter((total) => total.isWatched === isWatched).map(({ row }) => row);
  const [watched, others] = [rowsOf(true), rowsOf(false)];
  const draw = (rows: typeof watched, caption: string): Html =>
    table(rows, { caption, head: ['Column', 'Meaning', 'Sum', 'Null values'], numbers: [2, 3] });
  return html`<section id="totals">
    <h2>Totals</h2>
    ${
      watched.length === 0
        ? null
        : html`<p>
              A snapshot is refused if a watched total changes by more than 10 %, unless the change was accepted.
            </p>
            ${draw(watched, 'Watched totals')}`
    }
    ${others.length === 0 ? null : watched.length === 0 ? draw(others, 'Sums') : folded('Other sums', draw(others, 'Other sums'))}
  </section>`;
}

function proofSection({ manifest }: ReportFacts): Html {
  const datasets = Object.entries(manifest.datasets);
  const ledger = datasets.map(([name, { ledger: counts, carried_over, rows, partitions }]) => [
    html`<code>${name}</code>`,
    ...[counts.fetched, counts.published, counts.quarantined, counts.duplicates, carried_over, rows].map(formatNumber),
    gradesOf(partitions),
  ]);
  const head = ['Dataset', 'Fetched', 'Published', 'Quarantined', 'Duplicates', 'Carried over', 'Rows', 'Proof'];
  return html`<section id="trust">
    <h2>Completeness</h2>
    <p>
      A list is complete if two passes over it returned the same records. Every fetched record is published, in
      quarantine, or counted as a duplicate.
    </p>
    ${table(ledger, { caption: 'Records by outcome', head, numbers: [1, 2, 3, 4, 5, 6] })}
    ${describeReadings(manifest.datasets).map((text) => html`<p>${text}</p>`)}
    ${datasets.map(([name, dataset]) => folded(`Proof of ${name}`, verdictTable(name, dataset)))}
  </section>`;
}

function gradesOf(partitions: ManifestDataset['partitions']): string {
  return [...new Set(partitions.flatMap(({ grade }) => (grade === null ? [] : [grade])))].join(', ') || '–';
}

function verdictTable(dataset: string, { partitions }: ManifestDataset): Html {
  const rows = partitions.map(({ partition, name, window, received, listed, readings, grade, read_at }) => [
    window === undefined ? namePartition(partition, name) : `changes since ${window.since}`,
    formatNumber(received),
    listed === null ? '–' : formatNumber(listed),
    formatNumber(readings),
    grade ?? '–',
    minute(read_at),
  ]);
  const head = ['Partition', 'Records', 'In the full listing', 'Passes', 'Proof', 'Read (UTC)'];
  return table(rows, { caption: dataset, head, numbers: [1, 2, 3] });
}

/** Returns the key columns of all datasets, which identify rows in violations and changes. */
function keysOf({ pipelines }: Project): string[] {
  return [...new Set(pipelines.flatMap(({ key }) => key))];
}

async function checksSection({ database, manifest, project }: ReportFacts): Promise<Html> {
  const counts = await database.rows<{ dataset: string; check_name: string; severity: string; found: bigint }>(
    'SELECT dataset, check_name, severity, count(*) AS found FROM violations GROUP BY ALL ORDER BY severity, found DESC, dataset, check_name',
  );
  const messages = await database.rows<{ dataset: string; severity: string; message: string; place: string }>(
    `SELECT dataset, severity, message, concat_ws(', ', ${columnList(keysOf(project))}) AS place
     FROM violations ORDER BY severity, dataset, check_name, place LIMIT ${maxRows}`,
  );
  const total = counts.reduce((sum, { found }) => sum + Number(found), 0);
  const quarantined = Object.values(manifest.datasets).reduce((sum, dataset) => sum + dataset.quarantined, 0);
  return html`<section id="checks">
    <h2>Checks</h2>
    <p>
      ${total === 0 ? 'All checks pass.' : `${countOf(total, 'violation')}. The rows are published without corrections.`}
      ${quarantined === 0 ? null : `${countOf(quarantined, 'record')} could not be stored as a row; see the table quarantine.`}
    </p>
    ${
      total === 0
        ? null
        : html`${table(
            counts.map(({ dataset, check_name, severity, found }) => [
              html`<code>${check_name}</code>`,
              dataset,
              severity,
              formatNumber(Number(found)),
            ]),
            { caption: 'Violations by check', head: ['Check', 'Dataset', 'Severity', 'Rows'], numbers: [3] },
          )}
          ${table(
            messages.map(({ dataset, severity, message, place }) => [place, dataset, severity, message]),
            {
              caption: total > maxRows ? `The first ${maxRows} violations` : 'Violations',
              head: ['Row', 'Dataset', 'Severity', 'What fails'],
            },
          )}`
    }
  </section>`;
}

type ChangedValue = Record<'old_value' | 'new_value', string | null>;

async function changesSection({ database, manifest, project }: ReportFacts): Promise<Html> {
  const rows = Object.entries(manifest.datasets).map(([name, { changes }]) => [
    html`<code>${name}</code>`,
    formatNumber(changes.added),
    formatNumber(changes.removed),
    formatNumber(changes.changed),
  ]);
  const restated = await database.rows<Record<'dataset' | 'column_name' | 'place', string> & ChangedValue>(
    `SELECT dataset, column_name, concat_ws(', ', ${columnList(keysOf(project))}) AS place, old_value, new_value FROM ${changesTableName}
     WHERE snapshot_id = ${quoteText(manifest.snapshot)} AND kind = 'changed' ORDER BY ALL LIMIT ${maxRows}`,
  );
  return html`<section id="restated">
    <h2>What the source changed</h2>
    ${
      manifest.previous === null
        ? html`<p>This is the first snapshot, so there is nothing to compare it with.</p>`
        : html`<p>Compared with snapshot <code>${manifest.previous}</code>.</p>
            ${table(rows, {
              caption: 'Records by change',
              head: ['Dataset', 'Added', 'Removed', 'Changed'],
              numbers: [1, 2, 3],
            })}
            ${
              restated.length === 0
                ? null
                : table(
                    restated.map(({ dataset, column_name, place, old_value, new_value }) => [
                      html`<code>${dataset}.${column_name}</code>`,
                      place,
                      old_value ?? '–',
                      new_value ?? '–',
                    ]),
                    { caption: 'Changed values', head: ['Column', 'Row', 'Before', 'After'] },
                  )
            }`
    }
  </section>`;
}

function methodSection({ manifest }: ReportFacts): Html {
  const command = (words: string): Html => html`<code>${words}</code>`;
  return html`<section id="method">
    <h2>How to check these figures</h2>
    <p>
      ${command('rekap snapshots verify')} compares every file with its hash and every table with the manifest.
      ${command('rekap replay')} builds the tables again from the stored responses.
    </p>
    ${
      manifest.warnings.length === 0
        ? null
        : html`<h3>Warnings</h3>
            <ul>
              ${manifest.warnings.map((warning) => html`<li><samp>${warning}</samp></li>`)}
            </ul>`
    }
    ${folded(
      'Files and their hashes',
      table(
        manifest.files.map(({ path, sha256 }) => [html`<code>${path}</code>`, html`<code>${sha256}</code>`]),
        { caption: 'Files and their hashes', head: ['File', 'SHA-256'] },
      ),
    )}
  </section>`;
}
