/** Draws the table of all regencies. The script of the page adds search, sorting and a filter. */

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
