/** The sections on trust: how each district was proved, where every record went, what contradicts itself, what was restated, and the method. */

import type { ViolationFigures } from './figures.ts';
import { folded, type Html, html, table } from '../../src/runtime/html.ts';
import { minute, more, type Page } from './page.ts';
import type { Words } from './words.ts';
import type { Manifest } from '../../src/warehouse/snapshot-format.ts';

export function trust(page: Page): Html {
  const { own, manifest, number, figures } = page;
  const datasets = Object.entries(manifest.datasets);
  const ledger = datasets.map(
    ([
      name,
      {
        ledger: { fetched, published, quarantined, duplicates },
        carried_over,
        rows,
      },
    ]) => [name, ...[fetched, published, quarantined, duplicates, carried_over, rows].map(number)],
  );
  const restated = figures.restated.map(({ place, column, before, after }) => [place, column, before, after]);
  return html`<section>
      <h2>${own.trust}</h2>
      <div class="columns">
        <div>
          <h3>${own.proved}</h3>
          <p>${own.provedMeans}</p>
          ${datasets.map(([name, dataset]) => proved(page, name, dataset))}
        </div>
        <div>
          ${table(ledger, {
            caption: own.ledger,
            head: [own.dataset, own.fetched, own.published, own.quarantined, own.duplicates, own.carried, own.rows],
            numbers: [1, 2, 3, 4, 5, 6],
          })}
        </div>
      </div>
    </section>
    <section>
      <h2>${own.violations}</h2>
      ${violations(page)}
    </section>
    <section>
      <h2>${own.restated}</h2>
      ${
        restated.length === 0
          ? html`<p>${own.nothingRestated}</p>`
          : html`${table(restated, { caption: own.restated, head: [own.place, own.column, own.before, own.after], numbers: [2, 3] })}${more(page, restated.length)}`
      }
    </section>
    <section>
      <h2>${own.method}</h2>
      <p>${own.methodText}</p>
      <p>${own.again}</p>
      ${
        manifest.warnings.length === 0
          ? null
          : html`<h3>${own.warnings}</h3>
              <ul>
                ${manifest.warnings.map((warning) => html`<li>${warning}</li>`)}
              </ul>`
      }
      ${folded(
        own.hashes,
        table(
          manifest.files.map(({ path, sha256 }) => [path, html`<code>${sha256}</code>`]),
          { caption: own.hashes, head: [own.file, 'SHA-256'], numbers: [] },
        ),
      )}
    </section>`;
}

function proved({ own, number }: Page, name: string, { districts: verdicts }: Manifest['datasets'][string]): Html {
  const own84 = verdicts.filter(({ district }) => district !== null);
  const complete = own84.filter((verdict) => verdict.complete).length;
  const rows = own84.map(({ district, received, readings, proof, read_at }) => [
    String(district),
    number(received),
    number(readings),
    own.proofs[proof],
    minute(read_at),
  ]);
  return html`<p>
      <strong>${name}</strong>: <span class="good">${number(complete)} / ${number(own84.length)} ${own.complete}</span>
    </p>
    ${folded(own.allDistricts(number(own84.length)), table(rows, { caption: name, head: [own.district, own.records, own.readings, own.proof, own.readAt], numbers: [1, 2] }))}`;
}

function violations(page: Page): Html {
  const { own, manifest, figures, number } = page;
  if (figures.violations.length === 0) return html`<p>${own.noViolations}</p>`;
  const ages = Object.entries(manifest.violation_ages ?? {}).map(([severity, counts]) => {
    const parts = Object.entries(counts)
      .filter(([, count]) => count > 0)
      .map(([age, count]) =>
        manifest.previous === null ? number(count) : `${number(count)} ${own.ages[age as keyof Words['ages']]}`,
      );
    return html`<li>
      <strong>${own.severities[severity as keyof Words['severities']]}</strong>: ${parts.join(', ')}
    </li>`;
  });
  const all = Object.values(manifest.datasets).flatMap((dataset) => Object.values(dataset.violations));
  const left = all.reduce((sum, count) => sum + count, 0) - figures.violations.length;
  return html`<p>${own.violationsMean}</p>
    <ul>
      ${ages}
    </ul>
    <ul class="doubts">
      ${figures.violations.map((violation) => doubt(page, violation))}
    </ul>
    ${left > 0 ? html`<p>${own.more(number(left))}</p>` : null}`;
}

function doubt({ own, answers, manifest, project }: Page, violation: ViolationFigures): Html {
  const { severity, place, said, isNew, since, dataset, column_name, district, actual, raw_value, check_name } =
    violation;
  const field = project.pipelines.find(({ table: name }) => name === dataset)?.columns[column_name]?.field;
  const behind = answers.filter(
    (answer) =>
      answer.dataset === dataset && answer.status === 200 && (answer.district === district || answer.district === null),
  );
  // Of the full listing, the first page; a listing of many pages would drown the district's own answer.
  const shown = [
    ...behind.filter((answer) => answer.district !== null),
    ...behind.filter((answer) => answer.district === null).slice(0, 1),
  ];
  return html`<li>
    <span class="tag ${severity === 'error' ? 'error' : 'warning'}"
      >${own.oneSeverity[severity as keyof Words['oneSeverity']]}</span
    >${isNew && manifest.previous !== null ? html`<span class="tag new">${own.isNew}</span>` : null}<strong
      >${place}</strong
    >
    <span class="quiet">${dataset}, ${check_name}, ${own.since} ${since}</span><br />${said}
    ${folded(
      own.evidence,
      html`<p><code>${field ?? column_name}</code> = <code>${raw_value ?? actual ?? '–'}</code></p>
        ${
          shown.length === 0
            ? html`<p>${own.notKept}</p>`
            : html`<ul>
                ${shown.map(
                  ({ url, at, sha256, district: of }) =>
                    html`<li>
                      ${of === null ? own.fromAll : own.fromDistrict}, ${at}<br /><code>${url}</code><br />SHA-256
                      <code>${sha256}</code>
                    </li>`,
                )}
              </ul>`
        }
        <p><code>rekap evidence "${place.split(', ')[0]!}"</code></p>`,
    )}
  </li>`;
}
