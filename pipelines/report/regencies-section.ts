/** Draws the table of all regencies. A script in the page adds search, sorting and a filter. */

import type { Count } from './figure.ts';
import type { Place } from './places.ts';
import { type Html, html } from '../../src/runtime/html.ts';
import { type Page, remainder } from './page.ts';
import { titleCase } from './place-names.ts';

export function regenciesSection(
  page: Page,
  regencies: readonly Place[],
  { left, anchors }: { readonly left: Count; readonly anchors: ReadonlyMap<string, string> },
): Html {
  const { own } = page;
  const provinces = [...new Set(regencies.map(({ province }) => titleCase(province ?? '')))].toSorted();
  const head = [own.regency, own.province, own.turnout, own.men, own.women, own.usersCompared, own.votersCompared];
  return html`<section id="regencies">
    <h2>${own.regencies}</h2>
    <p>${own.regenciesMean}</p>
    <div class="controls" id="controls" hidden>
      <input type="search" id="search" placeholder="${own.search}" aria-label="${own.search}" />
      <select id="province" aria-label="${own.province}">
        <option value="">${own.allProvinces}</option>
        ${provinces.map((name) => html`<option>${name}</option>`)}
      </select>
      <label><input type="checkbox" id="noted" /> ${own.onlyProblems}</label>
    </div>
    <div class="scroll tall" tabindex="0" role="region" aria-label="${own.regencies}">
      <table id="all">
        <thead>
          <tr>
            ${head.map((name, index) => html`<th scope="col" ${index > 1 ? html` class="number"` : null}>${name}</th>`)}
            <th scope="col">${own.problems}</th>
          </tr>
        </thead>
        <tbody data-list="regencies">
          ${regencies.map((place) => {
            const { name, province, turnout, status, key, worst } = place;
            const { both, male, female } = turnout;
            const anchor = anchors.get(key);
            const print = page.print.within(place.row);
            const severity = worst === null ? '' : (own.oneSeverity[worst] ?? worst);
            const note = own.statuses[status ?? ''] || severity;
            return html`<tr data-row="${place.row}">
              <th scope="row">${titleCase(name)}</th>
              <td>${titleCase(province ?? '')}</td>
              <td class="number">${print.show(both)}</td>
              <td class="number">${print.show(male)}</td>
              <td class="number">${print.show(female)}</td>
              <td class="number">${print.show(place.users)}</td>
              <td class="number">${print.show(place.voters)}</td>
              <td>${anchor === undefined ? note : html`<a href="#${anchor}">${note}</a>`}</td>
            </tr> `;
          })}
        </tbody>
      </table>
    </div>
    ${remainder(left, own.moreRegencies, page)}
  </section>`;
}

/** Sorts by the exact fraction of a figure, by its value, or by text. Hides rows that don't match search and filters. */
export const script = `
(() => {
  const table = document.getElementById('all'), body = table.tBodies[0], rows = [...body.rows];
  const search = document.getElementById('search'), province = document.getElementById('province'), noted = document.getElementById('noted');
  document.getElementById('controls').hidden = false;
  const filter = () => {
    const text = search.value.trim().toLowerCase();
    for (const row of rows)
      row.hidden = !(row.cells[0].textContent.toLowerCase().includes(text) &&
        (province.value === '' || row.cells[1].textContent === province.value) &&
        (!noted.checked || row.cells[7].textContent !== ''));
  };
  for (const control of [search, province, noted]) control.addEventListener('input', filter);
  const exact = (cell) => {
    const figure = cell.querySelector('data');
    if (figure === null || figure.value === '') return null;
    const [numerator, denominator = '1'] = (figure.dataset.of ?? figure.value).split('/');
    return [BigInt(numerator), BigInt(denominator)];
  };
  const order = (a, b, sign) => {
    if (a.text !== undefined) return sign * a.text.localeCompare(b.text);
    if (a.value === null || b.value === null) return (a.value === null) - (b.value === null);
    const difference = a.value[0] * b.value[1] - b.value[0] * a.value[1];
    return sign * (difference < 0n ? -1 : difference > 0n ? 1 : 0);
  };
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement('button');
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener('click', () => {
      const ascending = head.getAttribute('aria-sort') === 'descending' || (column < 2 && head.getAttribute('aria-sort') !== 'ascending');
      for (const other of table.tHead.rows[0].cells) other.removeAttribute('aria-sort');
      head.setAttribute('aria-sort', ascending ? 'ascending' : 'descending');
      const keyed = rows.map((row) => {
        const cell = row.cells[column];
        return column < 2 || column === 7 ? { row, text: cell.textContent } : { row, value: exact(cell) };
      });
      keyed.sort((a, b) => order(a, b, ascending ? 1 : -1));
      body.append(...keyed.map(({ row }) => row));
    });
  });
})();
`;
