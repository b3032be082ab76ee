/** Draws the sections on completeness, the ledger, the sums, restated values, and the method. */

import { type Count, countOf, figuresOf, keyOf } from './figure.ts';
import { folded, type Html, html, table } from '../../src/runtime/html.ts';
import { manifestCount, minute, type Page, remainder } from './page.ts';
import { titleCase } from './place-names.ts';
import type { Link, Restated } from './problem-figures.ts';
import type { Manifest } from '../../src/warehouse/snapshot-format.ts';

export function trustSection(page: Page): Html {
  const { own, manifest, election, print } = page;
  const datasets = Object.entries(manifest.datasets);
  const ledger = datasets.map(([name, { ledger: counts, carried_over, rows }]) => {
    const of = (pointer: string, count: number) => print.show(manifestCount(`/datasets/${name}/${pointer}`, count));
    const outcomes = ['fetched', 'published', 'quarantined', 'duplicates'] as const;
    return [
      name,
      ...outcomes.map((outcome) => of(`ledger/${outcome}`, counts[outcome])),
      of('carried_over', carried_over),
      of('rows', rows),
    ];
  });
  return html`<section id="trust">
    <h2>${own.trust}</h2>
    ${election.others.length === 0 ? null : html`<p class="quiet">${own.allElections}</p>`}
    <h3>${own.proved}</h3>
    ${datasets.map(([name, dataset]) => completeness(page, name, dataset))}
    ${table(ledger, {
      caption: own.ledger,
      head: [own.dataset, own.fetched, own.published, own.quarantined, own.duplicates, own.carried, own.rows],
      numbers: [1, 2, 3, 4, 5, 6],
    })}
  </section>`;
}

function completeness(page: Page, name: string, { partitions: verdicts }: Manifest['datasets'][string]): Html {
  const { own, print } = page;
  const districts = verdicts.filter(({ partition }) => partition !== null);
  const withRecords = districts.filter(({ received }) => received > 0);
  const count = (what: string, found: readonly unknown[]) => countOf(`finding.${what}?dataset=${name}`, found.length);
  const records = withRecords.reduce((sum, { received }) => sum + received, 0);
  const complete = withRecords.filter((verdict) => verdict.complete);
  const byListing = complete.filter(({ readings, listed, received }) => readings === 1 && listed === received);
  const empty = districts.filter(({ received }) => received === 0);
  const rows = districts.map(({ partition, received, readings, listed, proof, grade, read_at }) => {
    const of = (pointer: string, value: number) =>
      print.show(
        manifestCount(
          `/datasets/${name}/partitions/${verdicts.findIndex((one) => one.partition === partition)}/${pointer}`,
          value,
        ),
      );
    return [
      html`<code>${partition}</code>`,
      of('received', received),
      listed === null ? '–' : of('listed', listed),
      of('readings', readings),
      html`${own.proofs[proof]}${grade === null ? null : html` (<code>${grade}</code>)`}`,
      minute(read_at),
    ];
  });
  const head = [own.district, own.records, own.listedRecords, own.passes, own.proof, own.readAt];
  return html`<p>
      ${own.provedMeans(
        name,
        print.show(count('complete', complete)),
        print.show(count('with_records', withRecords)),
        print.show(countOf(`finding.received?dataset=${name}`, records)),
      )}${own.confirmed(
        print.show(count('confirmed_by_listing', byListing)),
        print.show(countOf(`finding.confirmed_by_passes?dataset=${name}`, complete.length - byListing.length)),
      )}${empty.length === 0 ? null : own.empty(print.show(count('empty', empty)), empty.length)}
    </p>
    ${folded(own.allDistricts, table(rows, { caption: name, head, numbers: [1, 2, 3] }))}`;
}

export function sumsSection({ own, print }: Page, links: readonly Link[]): Html {
  const rows = links.map(({ dataset, total, parts, sourceTotal, knownParts, difference, rows: listed }) => [
    html`<code>${dataset}</code>`,
    html`<code>${total} = ${parts.join(' + ')}</code>`,
    print.show(sourceTotal),
    print.show(knownParts),
    print.show(difference),
    print.show(listed),
  ]);
  const head = [own.dataset, own.sum, own.sourceTotal, own.knownParts, own.difference, own.rowsListed];
  return html`<section id="reconciliation">
    <h2>${own.sums}</h2>
    <p>${own.sumsMean}</p>
    ${table(rows, { caption: own.sums, head, numbers: [2, 3, 4, 5] })}
  </section>`;
}

export function restatedSection(
  page: Page,
  { rows, left }: { readonly rows: readonly Restated[]; readonly left: Count },
): Html {
  const { own, print } = page;
  const value = (restated: Restated, column: 'old_value' | 'new_value') => {
    const text = restated.row[column] as string | null;
    if (text === null) return '–';
    if (!/^[0-9]+$/.test(text)) return text;
    const key = keyOf(restated.row, ['snapshot_id', 'dataset', 'column_name', 'dapil_id', 'province', 'regency']);
    return print.show(figuresOf('changes', { ...restated.row, [column]: BigInt(text) }, key).count(column));
  };
  const cells = rows.map((restated) => [
    titleCase(restated.place),
    html`<code>${restated.dataset}.${restated.column}</code>`,
    value(restated, 'old_value'),
    value(restated, 'new_value'),
  ]);
  const head = [own.place, own.column, own.before, own.after];
  return html`<section id="restated">
    <h2>${own.restated}</h2>
    ${rows.length === 0 ? html`<p>${page.manifest.previous === null ? own.noPrevious : own.nothingRestated}</p>` : table(cells, { caption: own.restated, head, numbers: [2, 3] })}
    ${remainder(left, own.moreRestated, page)}
  </section>`;
}

function carriedOver({ datasets }: Manifest): number {
  return Object.values(datasets).reduce((sum, { carried_over: carried }) => sum + carried, 0);
}

/** Says how many rows are from earlier syncs; null if none are. */
export function carriedNote({ own, print, manifest }: Page): Html | null {
  const carried = carriedOver(manifest);
  const rows = Object.values(manifest.datasets).reduce((sum, dataset) => sum + dataset.rows, 0);
  if (carried === 0) return null;
  return html`<p class="quiet">
    ${own.carriedOver(print.show(countOf('finding.carried_over', carried)), print.show(countOf('finding.rows', rows)))}
  </p>`;
}

export function methodSection({ own, manifest }: Page, withoutCode: readonly (readonly (string | null)[])[]): Html {
  const command = (line: string) => html`<code>${line}</code>`;
  const names = withoutCode.map((parts) =>
    parts.flatMap((part) => (part === null ? [] : [titleCase(part)])).join(', '),
  );
  return html`<section id="method">
    <h2>${own.method}</h2>
    <p>${own.requested(carriedOver(manifest) === 0)} ${own.methodText}</p>
    <p>
      ${own.again(command('rekap snapshots verify'), command('rekap replay'), command('rekap evidence'))}
      ${own.figureNames}
    </p>
    ${names.length === 0 ? null : html`<p>${own.withoutCode(names.join('; '))}</p>`}
    ${
      manifest.warnings.length === 0
        ? null
        : html`<h3>${own.warnings}</h3>
            <ul>
              ${manifest.warnings.map((warning) => html`<li><samp>${warning}</samp></li>`)}
            </ul>`
    }
    ${folded(
      own.hashes,
      table(
        manifest.files.map(({ path, sha256 }) => [html`<code>${path}</code>`, html`<code>${sha256}</code>`]),
        { caption: own.hashes, head: [own.file, 'SHA-256'], numbers: [] },
      ),
    )}
  </section>`;
}
