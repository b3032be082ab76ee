/** Draws the charts of the report as HTML, with every number as text. */

import { compareRates, isKnown, percentOf, type Rate } from './figure.ts';
import type { ListFigures } from './figures.ts';
import { isPartial, type Place } from './places.ts';
import { folded, type Html, html } from '../../src/runtime/html.ts';
import { constant, type Page } from './page.ts';
import { titleCase } from './place-names.ts';
import { tiles } from './tiles.ts';

/** Returns the axis that charts share, from the lowest to the highest turnout in whole tens of percent. */
export function spanOf(places: readonly Place[]): readonly [number, number] {
  const all = places
    .flatMap(({ turnout }) => [turnout.male, turnout.female, turnout.both])
    .map((rate) => percentOf(rate))
    .filter((percent) => percent !== null);
  if (all.length === 0) return [0, 100];
  const from = Math.floor(Math.min(...all) / 10) * 10;
  return [from, Math.max(Math.ceil(Math.max(...all) / 10) * 10, from + 10)];
}

/** Says what the rates of a place cover, or why it has none; null if they cover the whole place, and for a regency. */
export function scopeNote(place: Place, { own, print }: Page): Html | null {
  const { scope, turnout } = place;
  if (scope === null) return null;
  if (isPartial(place)) return html`<small>${own.partial(print.show(scope.voters))}</small>`;
  const left = Object.entries(scope.left).filter(([, count]) => count.count! > 0n);
  if (isKnown(turnout.both) || left.length === 0) return null;
  return html`<small
    >${own.noRate(left.map(([reason, count]) => own.leftReasons[reason as keyof typeof scope.left](print.show(count))))}</small
  >`;
}

/** Returns the attributes of a chart that people can take away: its file name, its title, and the columns of its CSV. */
function taken(name: string, title: string, head: readonly string[]): Html {
  return html` data-chart="${name}" data-title="${title}" data-head="${JSON.stringify(head)}"`;
}

export interface DotsSettings {
  readonly list: string;
  readonly title: string;
  readonly span: readonly [from: number, to: number];
}

export function dots(places: readonly Place[], { list, title, span: [from, to] }: DotsSettings, page: Page): Html {
  const { own, print } = page;
  const at = (rate: Rate) => ((100 * (percentOf(rate, 2)! - from)) / (to - from)).toFixed(2);
  const mark = (rate: Rate, kind: string) =>
    isKnown(rate) ? html`<i class="${kind}" style="left:${at(rate)}%"></i>` : null;
  const line = ({ male, female }: Place['turnout']) => {
    if (!isKnown(male) || !isKnown(female)) return null;
    const [low, high] = compareRates(male, female) < 0 ? [male, female] : [female, male];
    return html`<i
      class="line"
      style="left:${at(low)}%;width:${(Number(at(high)) - Number(at(low))).toFixed(2)}%"
    ></i>`;
  };
  const ticks = Array.from({ length: (to - from) / 10 + 1 }, (_, index) => from + 10 * index);
  const head = [own.place, own.turnout, own.men, own.women, own.note];
  return html`<ul
    class="dots"
    data-list="${list.replace(/-\d$/, '')}"
    style="--tenths:${(to - from) / 10}"
    data-key="${own.dots}"
    ${taken(list, title, head)}
  >
    <li class="axis" aria-hidden="true">
      <span class="track"
        >${ticks.map((tick) => html`<span style="left:${(100 * (tick - from)) / (to - from)}%">${print.show(constant(tick))}</span>`)}</span
      >
    </li>
    ${places.map((place) => {
      const { turnout } = place;
      const name = titleCase(place.name);
      const within = print.within(place.row);
      return html`<li data-name="${name}" data-row="${place.row}">
        <span class="name">${name}${scopeNote(place, { ...page, print: within })}</span
        ><span class="track">${line(turnout)}${mark(turnout.male, 'men')}${mark(turnout.female, 'women')}</span
        >${within.show(turnout.both)}<span class="tip"
          >${own.men} ${within.show(turnout.male)}, ${own.women} ${within.show(turnout.female)}</span
        >
      </li>`;
    })}
  </ul>`;
}

const steps = [0, 70, 75, 80, 85, 90] as const;

/** Returns the color step of the rounded rate, so that color and number agree. */
function stepOf(rate: Rate): string {
  const percent = percentOf(rate);
  return percent === null ? 'none' : String(steps.findLastIndex((least) => percent >= least));
}

export function tileMap(provinces: readonly Place[], page: Page): Html {
  const { own, print } = page;
  const placed = new Map<string, Place>();
  const unplaced: Place[] = [];
  for (const province of provinces) {
    const code = province.kemendagriCode;
    if (code === null || !tiles.has(code) || placed.has(code)) unplaced.push(province);
    else placed.set(code, province);
  }
  const cells = [...tiles].map(([code, { label, column, row }]) => {
    const province = placed.get(code);
    const place = `grid-column:${column + 1};grid-row:${row + 1}`;
    if (province === undefined) return html`<li class="step-none" style="${place}"><b>${label}</b></li>`;
    const { both } = province.turnout;
    const name = titleCase(province.name);
    // In an attribute, it is text without elements.
    const note =
      scopeNote(province, page)
        ?.text.replaceAll(/<[^>]*>/g, '')
        .replaceAll(/\s+/g, ' ')
        .trim() ?? null;
    return html`<li
      class="step-${stepOf(both)}${isPartial(province) ? ' partial' : ''}"
      style="${place}"
      data-name="${name}"
    >
      <b>${label}</b>${print.show(both)}<span class="tip" ${note === null ? null : html` data-note="; ${note}"`}
        >${name}: ${print.show(both)}</span
      >
    </li>`;
  });
  const legend = steps.map((least, index) => {
    const bound = print.show(constant(index === 0 ? steps[1] : least));
    return html`<li><i class="step-${String(index)}"></i>${index === 0 ? '<' : '≥'} ${bound}%</li>`;
  });
  const key = [...placed].map(([code, { name }]) => html`<li><b>${tiles.get(code)!.label}</b> ${titleCase(name)}</li>`);
  const names = unplaced.map(({ name }) => titleCase(name)).join(', ');
  return html`<div
      ${taken('map', own.map, [own.place, own.turnout, own.note])}
      data-foot="${unplaced.length === 0 ? '' : own.notOnMap(names)}"
    >
      <ul class="map">
        ${cells}
      </ul>
      <ul class="legend">
        ${legend}
        <li><i class="step-none"></i>${own.unknown}</li>
        ${provinces.some(isPartial) ? html`<li><i class="partial"></i>${own.partialKey}</li>` : null}
      </ul>
    </div>
    ${unplaced.length === 0 ? null : html`<p class="quiet">${own.notOnMap(names)}</p>`}
    ${folded(
      own.tileKey,
      html`<ul class="key">
        ${key}
      </ul>`,
      'always',
    )}`;
}

export function shares(lists: readonly ListFigures[], { own, print }: Page): Html {
  const small = lists.filter(({ list }) => list !== 'DPT');
  const all = small.flatMap(({ shareOfVoters, shareOfUsers }) => [shareOfVoters, shareOfUsers]);
  const widest = Math.max(...all.map((rate) => percentOf(rate, 2) ?? 0), 0.01);
  const bar = (list: string, rate: Rate, kind: string, label: string) =>
    html`<li data-name="${list}, ${label}">
      <i class="${kind}" style="width:${((70 * (percentOf(rate, 2) ?? 0)) / widest).toFixed(2)}%"></i
      ><span>${print.show(rate, 2)} ${label}</span>
    </li>`;
  return html`<dl class="bars" ${taken('lists', own.lists, [own.list, own.share])}>
    ${small.map(
      ({ list, shareOfVoters, shareOfUsers }) =>
        html`<dt>${list}</dt>
          <dd>
            <ul>
              ${bar(list, shareOfVoters, 'men', own.shareOf.voters)}${bar(list, shareOfUsers, 'women', own.shareOf.users)}
            </ul>
          </dd>`,
    )}
  </dl>`;
}
