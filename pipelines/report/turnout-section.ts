/** Draws the sections on turnout: findings, the nation, provinces, districts, and the three lists. */

import { dots, scopeNote, shares, spanOf, tileMap } from './charts.ts';
import { compareRates, type Count, denominatorOf, type Figure, isKnown, numeratorOf } from './figure.ts';
import type { ListFigures, Sums } from './figures.ts';
import { isPartial, leastScope, type Place, type Ranking } from './places.ts';
import { compareSexes, extremes, extremesWithContradicting } from './findings.ts';
import { folded, type Html, html, table } from '../../src/runtime/html.ts';
import { amount, constant, type Page } from './page.ts';
import { titleCase } from './place-names.ts';
import type { Chain, Problems } from './problem-figures.ts';

/** More provinces with the same turnout say nothing. */
const maxTied = 6;

type Nation = Readonly<Record<'both' | 'male' | 'female', Sums>>;

export function findings(page: Page, nation: Nation, provinces: readonly Place[], problems: Problems): Html {
  const { own, print } = page;
  const both = nation.both;
  const hundred = html`${print.show(constant(100))}%`;
  const sentences = [
    isKnown(both.turnout)
      ? own.headline({
          rate: print.show(both.turnout),
          users: print.show(numeratorOf(both.turnout)),
          voters: print.show(denominatorOf(both.turnout)),
          compared: print.show(both.compared),
          of: print.show(both.regencies),
        })
      : null,
    sexes(page, provinces),
    farthest(page, provinces),
    ...(['exactly', 'above'] as const).map((which) => {
      const count = problems.byCheck[`turnout_${which}_100`];
      if (count === undefined) return null;
      return own[which](print.show(count), amount(count), hundred);
    }),
    leftOut(page, both),
  ];
  return html`<ul class="findings">
    ${sentences.filter((sentence) => sentence !== null).map((sentence) => html`<li>${sentence}</li>`)}
  </ul>`;
}

function sexes({ own, print }: Page, provinces: readonly Place[]): Html | null {
  const { women, men, equal, unknown, provinces: all } = compareSexes(provinces);
  if (amount(all) === 0) return null;
  if (amount(women) + amount(men) === 0) return own.allEqual(print.show(equal), amount(equal));
  const first =
    amount(women) >= amount(men)
      ? own.womenHigher(print.show(women), print.show(all))
      : own.menHigher(print.show(men), print.show(all));
  return html`${first}${amount(equal) === 0 ? null : own.equalRates(print.show(equal), amount(equal))}${
    amount(unknown) === 0 ? null : own.unknownRates(print.show(unknown), amount(unknown))
  }`;
}

function farthest({ own, print }: Page, provinces: readonly Place[]): Html | null {
  const ends = extremes(provinces);
  if (ends === null || ends.highest.length + ends.lowest.length > maxTied) return null;
  const name = (places: readonly Place[]): string => places.map((place) => titleCase(place.name)).join(', ');
  const show = ([place]: readonly Place[], rateOf: (place: Place) => Figure): Html => print.show(rateOf(place!));
  const compared = ({ turnout }: Place): Figure => turnout.both;
  const all = ({ scope }: Place): Figure => scope!.withContradicting;
  const { highest, lowest } = ends;
  const others = extremesWithContradicting(provinces, ends);
  return html`${own.extremes(name(highest), show(highest, compared), name(lowest), show(lowest, compared))}${
    others === null
      ? null
      : own.otherExtremes(
          name(others.highest),
          show(others.highest, all),
          name(others.lowest),
          show(others.lowest, all),
        )
  }`;
}

function leftOut({ own, print }: Page, sums: Sums): Html | null {
  const reasons = Object.entries(sums.left)
    .filter(([, count]) => amount(count) > 0)
    .map(([reason, count]) => own.leftReasons[reason as keyof Sums['left']](print.show(count)));
  if (reasons.length === 0) return null;
  const withThem =
    amount(sums.left.contradicting) === 0 || !isKnown(sums.withContradicting)
      ? null
      : html` ${own.withContradicting(print.show(sums.withContradicting), print.fraction(sums.withContradicting))}`;
  return html`${own.leftOut(reasons)}${withThem}`;
}

export function nationSection({ own, print, election }: Page, nation: Nation): Html {
  const tile = (name: string, figure: Figure, below: Html | null, kind = '') =>
    html`<li class="${kind}"><strong>${print.show(figure)}</strong><span>${name}</span>${below}</li>`;
  const rate = (name: string, { turnout }: Sums, kind = '') =>
    tile(name, turnout, isKnown(turnout) ? html`<small>${print.fraction(turnout)}</small>` : null, kind);
  const { both, male, female } = nation;
  const hasUnknown = amount(both.unknownVoters) + amount(both.unknownUsers) > 0;
  const people = (name: string, count: Count, regencies: Count) =>
    tile(name, count, html`<small>${own.coverage(print.show(regencies), amount(regencies))}</small>`);
  return html`<ul class="big">
      ${rate(own.turnout, both, 'lead')} ${rate(own.men, male)} ${rate(own.women, female)}
      ${people(own.voters, both.voters, both.inVoters)} ${people(own.users, both.users, both.inUsers)}
    </ul>
    <p>
      ${own.perVoters(election.year === 2024)}
      ${hasUnknown ? own.unknownTotals(print.show(both.unknownVoters), print.show(both.unknownUsers)) : null}
    </p>`;
}

function placeTable(page: Page, caption: string, places: readonly Place[]): Html {
  const { own, print } = page;
  const rows = places.map(({ turnout: { both, male, female }, ...place }) => [
    html`${titleCase(place.name)}${scopeNote({ ...place, turnout: { both, male, female } }, page)}`,
    print.show(both),
    print.show(male),
    print.show(female),
    print.show(numeratorOf(both)),
    print.show(denominatorOf(both)),
  ]);
  const head = [own.place, own.both, own.men, own.women, own.usersCompared, own.votersCompared];
  return table(rows, { caption, head, numbers: [1, 2, 3, 4, 5] });
}

/** Sorts places by turnout, first those that are ranked. */
function byTurnout(places: readonly Place[]): Place[] {
  return places.toSorted((a, b) =>
    isPartial(a) !== isPartial(b) && isKnown(a.turnout.both) && isKnown(b.turnout.both)
      ? Number(isPartial(a)) - Number(isPartial(b))
      : isKnown(a.turnout.both) && isKnown(b.turnout.both)
        ? compareRates(b.turnout.both, a.turnout.both)
        : compareRates(a.turnout.both, b.turnout.both),
  );
}

interface Rankings {
  readonly highest: Ranking;
  readonly lowest: Ranking;
}

export function provincesSection(page: Page, unordered: readonly Place[], rankings: Rankings): Html {
  const { own } = page;
  const provinces = byTurnout(unordered);
  return html`<section id="provinces">
    <h2>${own.provinces}</h2>
    <div class="columns">
      <figure>
        <figcaption>${own.dots}</figcaption>
        ${dots(provinces, { list: 'provinces', title: own.provinces, span: spanOf(provinces) }, page)}
        ${folded(own.asTable, placeTable(page, own.provinces, provinces))}
      </figure>
      <div>
        <figure>
          <h3>${own.map}</h3>
          ${tileMap(provinces, page)}
        </figure>
        <div class="pair">${ranking(page, 'highest', rankings)} ${ranking(page, 'lowest', rankings)}</div>
        <p class="quiet">${own.ranked} ${own.partialPlaces(html`${page.print.show(constant(leastScope))}%`)}</p>
      </div>
    </div>
  </section>`;
}

function ranking({ own, print }: Page, list: 'highest' | 'lowest', rankings: Rankings): Html | null {
  const { places, tied } = rankings[list];
  const caption = own[list];
  const last = places.at(-1);
  if (last === undefined) return null;
  const shown = places.filter(({ turnout }) => compareRates(turnout.both, last.turnout.both) === 0).length;
  const rows = places.map(({ name, province, turnout }) => [
    html`${titleCase(name)}<small>${titleCase(province ?? '')}</small>`,
    print.show(turnout.both),
  ]);
  const tie =
    amount(tied) > shown
      ? own.tied(
          print.show(tied),
          print.show(last.turnout.both),
          print.show({ name: `${tied.name}_shown`, count: BigInt(shown) }),
        )
      : null;
  return html`<div>
    <div data-list="${list}">${table(rows, { caption, head: [own.regency, own.turnout], numbers: [1] })}</div>
    ${tie === null ? null : html`<p class="quiet">${tie}</p>`}
  </div>`;
}

export function districtsSection(page: Page, unordered: readonly Place[], { byCheck }: Problems): Html {
  const { own } = page;
  const districts = byTurnout(unordered);
  const span = spanOf(districts);
  const half = Math.ceil(districts.length / 2);
  return html`<section id="districts">
    <h2>${own.districts}</h2>
    ${byCheck['district_in_other_province'] === undefined ? null : html`<p>${own.namesDiffer(html`<a href="#problems">${own.violations}</a>`)}</p>`}
    <p class="quiet">${own.dots}</p>
    <div class="columns">
      ${[districts.slice(0, half), districts.slice(half)].map((part, index) =>
        part.length === 0
          ? null
          : html`<figure>${dots(part, { list: `districts-${index + 1}`, title: own.districts, span }, page)}</figure>`,
      )}
    </div>
    ${folded(own.asTable, placeTable(page, own.districts, districts))}
  </section>`;
}

export function listsSection(page: Page, lists: readonly ListFigures[], chains: readonly Chain[]): Html {
  const { own, print } = page;
  const counts = lists.map(({ list, voters, users }) => [list, print.show(voters), print.show(users)]);
  const rates = lists.map(({ list, rate }) => [
    list,
    print.show(rate),
    print.show(numeratorOf(rate)),
    print.show(denominatorOf(rate)),
  ]);
  return html`<section id="lists">
    <h2>${own.lists}</h2>
    <p>${own.listsMean}</p>
    <div class="columns">
      ${shares(lists, page)}
      <div>
        ${table(rates, { caption: own.listRates, head: [own.list, own.rate, own.usersCompared, own.voters], numbers: [1, 2, 3] })}
        ${table(counts, { caption: own.listCounts, head: [own.list, own.voters, own.users], numbers: [1, 2] })}
      </div>
    </div>
    ${chains.map(({ dataset, grandTotal, difference, leaves }) =>
      difference.count === 0n || !isKnown(grandTotal)
        ? null
        : html`<p>
            ${own.chain(own.chainEqual[dataset] ?? dataset, print.show(grandTotal), print.show(difference), print.show(leaves))}
          </p>`,
    )}
  </section>`;
}
