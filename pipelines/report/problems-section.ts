/** Draws the section on problems: one entry per place, with its violations and the evidence for them. */

import { countOf, figuresOf, keyOf } from './figure.ts';
import { folded, type Html, html } from '../../src/runtime/html.ts';
import { amount, minute, type Page, remainder } from './page.ts';
import { titleCase } from './place-names.ts';
import type { Problem, Problems, Violation } from './problem-figures.ts';

/** Returns the element id of each entry by the key of its place. */
export function anchorsOf({ places }: Problems): ReadonlyMap<string, string> {
  return new Map(places.map(({ key }, index) => [key, `problem-${index + 1}`]));
}

const maxOpen = 12;

export function problemsSection(page: Page, problems: Problems): Html {
  const { own, print } = page;
  const anchors = anchorsOf(problems);
  const severities = problems.bySeverity.map(({ severity, rows, fresh, resolved }) => {
    const template = own.severities[severity];
    const count = print.show(rows);
    const ages = page.manifest.previous === null ? null : own.ages(print.show(fresh), print.show(resolved));
    return html`<li>${template === undefined ? html`${count} ${severity}` : template(count, amount(rows))}${ages}</li>`;
  });
  const entry = (place: Problem): Html => problem(page, place, anchors.get(place.key)!);
  const isOpen = ({ violations }: Problem, index: number): boolean =>
    index < maxOpen || violations.some(({ severity }) => severity === 'error');
  const open = problems.places.filter(isOpen);
  const others = problems.places.filter((place) => !open.includes(place));
  return html`<section id="problems">
    <h2>${own.violations}</h2>
    <p>${own.violationsMean}</p>
    ${problems.places.length === 0 ? html`<p>${own.noViolations}</p>` : null}
    <ul>
      ${severities}
    </ul>
    <ul class="doubts">
      ${open.map(entry)}
    </ul>
    ${
      others.length === 0
        ? null
        : folded(
            own.warningsOnly(print.show(countOf('finding.places_folded', others.length)), others.length),
            html`<ul class="doubts">
              ${others.map(entry)}
            </ul>`,
          )
    }
    ${remainder(problems.placesLeft, own.morePlaces, page)} ${remainder(problems.elsewhere, own.elsewhere, page)}
  </section>`;
}

function problem(page: Page, place: Problem, anchor: string): Html {
  const { own, manifest } = page;
  const { regency, province, dapilName, dapilId, violations } = place;
  const name =
    regency === null
      ? html`${titleCase(dapilName ?? '')}
          <span class="quiet">${own.wholeDistrict}, <code>${String(dapilId)}</code></span>`
      : html`${titleCase(regency)}, ${titleCase(province ?? '')}`;
  const isFresh = manifest.previous !== null && violations.some(({ isNew }) => isNew);
  return html`<li id="${anchor}">
    <h3>${name}${isFresh ? html` <span class="tag new">${own.isNew}</span>` : null}</h3>
    <ul>
      ${violations.map(
        (violation) =>
          html`<li>
            <span class="tag ${violation.severity === 'error' ? 'error' : 'warning'}"
              >${own.oneSeverity[violation.severity] ?? violation.severity}</span
            ><code>${violation.dataset}</code>: ${sentence(page, violation)}
            <small class="quiet"
              ><code>${violation.check_name}</code>, ${own.since} <time>${violation.since}</time></small
            >
          </li>`,
      )}
    </ul>
    ${folded(own.evidence, evidence(page, place))}
  </li>`;
}

/** Names columns for readers. The field of the source is in the tooltip. */
function sentence({ own, print }: Page, { pieces, row }: Violation): Html {
  const columns = ['dataset', 'check_name', 'column_name', 'dapil_id', 'province', 'regency'];
  const sources: Readonly<Record<string, string>> = { expected: 'expected', limit: 'expected', actual: 'actual' };
  const isField = (index: number): boolean => pieces[index]?.name === 'field';
  const shown = pieces.map(({ name, text }, index) => {
    if (name === 'field') return null;
    if (name === 'column' || name === 'parts')
      return text.split(' + ').map((column, at) => `${at === 0 ? '' : ' + '}${own.columns[column] ?? column}`);
    const source = name === null ? undefined : sources[name];
    if (source !== undefined && /^[0-9]+$/.test(text))
      return print.show(figuresOf('violations', { ...row, [source]: BigInt(text) }, keyOf(row, columns)).count(source));
    if (name === null)
      return text.replace(isField(index + 1) ? / \($/ : /$^/, '').replace(isField(index - 1) ? /^\)/ : /$^/, '');
    return /^[^0-9]*$/.test(text) ? text : html`<code>${text}</code>`;
  });
  const field = pieces.find(({ name }) => name === 'field')?.text ?? '';
  return html`<span ${field === '' ? null : html` title="${field}"`}>${shown}</span>`;
}

/** Responses shown per place. Of the full listing, only the first page is shown. */
const maxResponses = 6;

function evidence({ own, responses }: Page, { dapilId, regency, violations }: Problem): Html {
  const datasets = new Set(violations.map(({ dataset }) => dataset));
  const behind = responses.filter(({ dataset, status }) => datasets.has(dataset) && status === 200);
  const listing = (dataset: string) =>
    behind.filter((response) => response.dataset === dataset && response.partition === null).slice(0, 1);
  const shown = [
    ...behind.filter(({ partition }) => partition === String(dapilId)),
    ...[...datasets].flatMap((dataset) => listing(dataset)),
  ].slice(0, maxResponses);
  return html`${
    shown.length === 0
      ? html`<p>${own.notKept}</p>`
      : html`<ul>
          ${shown.map(
            ({ url, at, sha256, partition }) =>
              html`<li>
                ${partition === null ? own.fromAll : own.fromDistrict}, ${minute(at)}<br /><code>${url}</code
                ><br /><code>SHA-256 ${sha256}</code>
              </li>`,
          )}
        </ul>`
  }
  ${regency === null ? null : html`<p><code>rekap evidence "${regency}"</code></p>`}`;
}
