/** The sections on turnout: the nation, provinces and regencies, districts, and the three lists. */

import { dots, shares, spanOf, steps, tileMap } from './charts.ts';
import type { Turnout } from './figures.ts';
import { folded, type Html, html, table } from '../../src/runtime/html.ts';
import { more, type Page } from './page.ts';
import { isProvince, tiles } from './tiles.ts';

export function nation({ own, figures: { nation: sums }, number, percent }: Page): Html {
  const both = sums.both;
  const turnoutOf = ({
    users_compared,
    voters_dpt_compared,
    voters_dpk_compared,
  }: Readonly<Record<string, number>>) => {
    const voters = voters_dpt_compared! + voters_dpk_compared!;
    return voters === 0 ? null : (100 * users_compared!) / voters;
  };
  const tile = (name: string, value: string, kind = '') =>
    html`<li class="${kind}"><strong>${value}</strong><span>${name}</span></li>`;
  const leftOut = both['regencies_left_out']!;
  const all = number(both['regencies']!);
  return html`<ul class="big">
      ${tile(own.turnout, percent(turnoutOf(both)), 'lead')}
      ${tile(`${own.turnout}, ${own.men.toLowerCase()}`, percent(turnoutOf(sums.male)))}
      ${tile(`${own.turnout}, ${own.women.toLowerCase()}`, percent(turnoutOf(sums.female)))}
      ${tile(own.voters, number(both['voters_all']!))} ${tile(own.users, number(both['users_all']!))}
    </ul>
    <p>
      ${own.turnoutMeans} ${leftOut > 0 ? own.leftOut(number(leftOut), all) : own.noneLeftOut(all)}
      ${both['regencies_inconsistent']! > 0 ? own.contradict(number(both['regencies_inconsistent']!)) : null}
    </p>`;
}

export function places(page: Page): Html {
  const { own, figures } = page;
  const { provinces, highest, lowest } = figures;
  const span = spanOf(provinces);
  const unplaced = provinces.map(({ name }) => name).filter((name) => !tiles.some(([tile]) => isProvince(tile, name)));
  const legend = steps.map(
    (least, index) =>
      html`<li><i style="background:var(--step-${index})"></i>${index === 0 ? `< ${steps[1]}` : `≥ ${least}`} %</li>`,
  );
  return html`<section>
    <h2>${own.provinces}</h2>
    <div class="columns">
      <figure>
        <figcaption>${own.dots}</figcaption>
        ${dots(provinces, span, { label: own.provinces, axis: own.percent })}
        ${folded(own.asTable, turnoutTable(page, own.provinces, provinces))}
      </figure>
      <figure>
        <h3>${own.map}</h3>
        ${tileMap(provinces, { label: own.map, axis: own.percent })}
        <ul class="legend">
          ${legend}
          <li><i style="background:var(--step-none)"></i>${own.unknown}</li>
        </ul>
        ${unplaced.length === 0 ? null : html`<p class="quiet">${own.notOnMap(unplaced.join(', '))}</p>`}
        <br />${shortTable(page, own.highest, highest)}
      </figure>
      <div>${shortTable(page, own.lowest, lowest)}</div>
    </div>
    ${more(page, provinces.length)}
  </section>`;
}

export function districts(page: Page): Html {
  const { own, figures } = page;
  const all = figures.districts;
  const span = spanOf(all);
  const third = Math.max(1, Math.ceil(all.length / 3));
  const parts = [0, 1, 2].map((part) => all.slice(part * third, (part + 1) * third)).filter((part) => part.length > 0);
  return html`<section>
    <h2>${own.districts}</h2>
    <p class="quiet">${own.dots}</p>
    <div class="columns">
      ${parts.map((part, index) => html`<figure>${dots(part, span, { label: `${own.districts} (${index + 1})`, axis: own.percent })}</figure>`)}
    </div>
    ${folded(own.asTable, turnoutTable(page, own.districts, all))}${more(page, all.length)}
  </section>`;
}

function shortTable({ own, percent }: Page, caption: string, rows: readonly Turnout[]): Html {
  return table(
    rows.map(({ name, male, female, both }) => [name, percent(both), percent(male), percent(female)]),
    { caption, head: [own.regency, own.both, own.men, own.women], numbers: [1, 2, 3] },
  );
}

function turnoutTable({ own, number, percent }: Page, caption: string, rows: readonly Turnout[]): Html {
  return table(
    rows.map(({ name, male, female, both, users, voters }) => [
      name,
      percent(both),
      percent(male),
      percent(female),
      number(users),
      number(voters),
    ]),
    { caption, head: [own.place, own.both, own.men, own.women, own.users, own.voters], numbers: [1, 2, 3, 4, 5] },
  );
}

export function lists({ own, figures, number, percent }: Page): Html {
  const rows = figures.lists.map(({ list, voters, users }) => [
    list,
    number(voters),
    number(users),
    percent(voters === 0 ? null : (100 * users) / voters),
  ]);
  return html`<section>
    <h2>${own.lists}</h2>
    <p>${own.listsMean}</p>
    <div class="columns">
      <figure>${shares(figures.lists, [own.voters, own.users], { label: own.lists, axis: own.share })}</figure>
      <div>
        ${table(rows, { caption: own.lists, head: [own.list, own.voters, own.users, '%'], numbers: [1, 2, 3] })}
      </div>
    </div>
  </section>`;
}
