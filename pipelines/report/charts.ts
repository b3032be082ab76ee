/** The report's charts as SVG, drawn by Observable Plot: takes figures, gives text. Colours are the page's, so that they turn dark with it. */

import * as Plot from '@observablehq/plot';
import { parseHTML } from 'linkedom';
import type { ListFigures, Turnout } from './figures.ts';
import { Html } from '../../src/runtime/html.ts';
import { isProvince, tiles } from './tiles.ts';

/** All charts are as wide as a telephone; the page sets them side by side where there is room. */
const width = 420;
const rowHeight = 17;
const { document } = parseHTML('<html></html>');

export interface ChartWords {
  /** What the chart shows, for those who do not see it. */
  readonly label: string;
  readonly axis: string;
}

/** The span of turnout that charts of one page share, in whole tens. */
export function spanOf(places: readonly Turnout[]): [number, number] {
  const all = places.flatMap(({ male, female, both }) => [male, female, both]).filter((value) => value !== null);
  if (all.length === 0) return [0, 100];
  return [Math.floor(Math.min(...all) / 10) * 10, Math.ceil(Math.max(...all) / 10) * 10];
}

/** Men and women of each place on a line, with the turnout of both beside it. */
export function dots(places: readonly Turnout[], span: readonly [number, number], words: ChartWords): Html {
  const names = places.map(({ name }, index) => `${index}\n${name}`);
  const rows = places.map((place, index) => ({ ...place, key: names[index]! }));
  const x = {
    domain: [...span],
    axis: 'top',
    label: words.axis,
    grid: true,
    ticks: 5,
    labelArrow: 'none',
    labelOffset: 38,
  } as const;
  return draw(
    {
      height: places.length * rowHeight + 56,
      marginTop: 40,
      marginLeft: 176,
      marginRight: 38,
      x,
      y: {
        domain: names,
        label: null,
        tickSize: 0,
        tickFormat: (key: string) => shorten(key.slice(key.indexOf('\n') + 1)),
      },
      marks: [
        Plot.ruleY(rows, { y: 'key', x1: 'male', x2: 'female', stroke: 'var(--line)', strokeWidth: 2 }),
        Plot.dot(rows, { x: 'male', y: 'key', fill: 'var(--men)', r: 3.5 }),
        Plot.dot(rows, { x: 'female', y: 'key', fill: 'var(--women)', symbol: 'diamond', r: 4 }),
        Plot.text(rows, {
          y: 'key',
          frameAnchor: 'right',
          dx: 34,
          text: ({ both }: Turnout) => (both === null ? '–' : both.toFixed(1)),
          fill: 'currentColor',
        }),
      ],
    },
    words.label,
  );
}

/** The provinces of Indonesia as tiles, each about where it lies. */
export function tileMap(provinces: readonly Turnout[], words: ChartWords): Html {
  const cells = tiles.map(([name, code, column, row]) => {
    const both = provinces.find((province) => isProvince(name, province.name))?.both ?? null;
    return { name, code, column, row, both };
  });
  const columns = Math.max(...tiles.map(([, , column]) => column)) + 1;
  const rows = Math.max(...tiles.map(([, , , row]) => row)) + 1;
  const size = width / columns;
  const place = {
    x1: 'column',
    x2: (cell: { column: number }) => cell.column + 1,
    y1: 'row',
    y2: (cell: { row: number }) => cell.row + 1,
  };
  const middle = { x: (cell: { column: number }) => cell.column + 0.5, y: (cell: { row: number }) => cell.row + 0.5 };
  return draw(
    {
      height: size * rows,
      margin: 0,
      axis: null,
      x: { domain: [0, columns], range: [0, width] },
      y: { domain: [0, rows], range: [0, size * rows] },
      marks: [
        Plot.rect(cells, {
          ...place,
          inset: 1,
          rx: 3,
          fill: ({ both }) => `var(--step-${stepOf(both)})`,
          title: ({ name, both }) => `${name}: ${both === null ? '–' : `${both} %`}`,
        }),
        Plot.text(cells, { ...middle, dy: -5, text: 'code', fill: ({ both }) => inkOn(both), fontWeight: 'bold' }),
        Plot.text(cells, {
          ...middle,
          dy: 6,
          text: ({ both }) => (both === null ? '–' : both.toFixed(0)),
          fill: ({ both }) => inkOn(both),
        }),
      ],
    },
    words.label,
  );
}

/** Lower bounds of the steps of colour, in percent. */
export const steps = [0, 70, 75, 80, 85, 90] as const;

function stepOf(both: number | null): string {
  return both === null ? 'none' : String(steps.findLastIndex((least) => both >= least));
}

function inkOn(both: number | null): string {
  return both === null ? 'var(--ink-none)' : `var(--ink-${stepOf(both)})`;
}

/** What share of all voters, and of all users, each list has. */
export function shares(
  lists: readonly ListFigures[],
  names: readonly [voters: string, users: string],
  words: ChartWords,
): Html {
  const rows = (['voters', 'users'] as const).flatMap((what, index) => {
    const all = lists.reduce((sum, list) => sum + list[what], 0);
    return lists
      .slice(1)
      .map(({ list, [what]: count }) => ({ list, what: names[index]!, share: all === 0 ? 0 : (100 * count) / all }));
  });
  return draw(
    {
      height: 150,
      marginLeft: 118,
      marginRight: 40,
      marginTop: 34,
      insetRight: 40,
      x: { label: words.axis, grid: true, axis: 'top', ticks: 4, labelArrow: 'none', labelOffset: 32 },
      y: { label: null, tickSize: 0, domain: [...names] },
      fy: { label: null, domain: ['DPTb', 'DPK'] },
      marks: [
        Plot.barX(rows, {
          x: 'share',
          y: 'what',
          fy: 'list',
          fill: ({ what }) => (what === names[0] ? 'var(--men)' : 'var(--women)'),
          insetTop: 2,
          insetBottom: 2,
        }),
        Plot.text(rows, {
          x: 'share',
          y: 'what',
          fy: 'list',
          text: ({ share }) => share.toFixed(2),
          textAnchor: 'start',
          dx: 4,
        }),
      ],
    },
    words.label,
  );
}

function draw(options: Plot.PlotOptions, label: string): Html {
  const svg = Plot.plot({
    document: document as never,
    width,
    style: { fontSize: '11px', background: 'none', overflow: 'visible' },
    ...options,
  });
  svg.setAttribute('role', 'img');
  svg.setAttribute('aria-label', label);
  svg.setAttribute('class', 'chart');
  // What is inside a picture with a name is not read out.
  for (const part of svg.querySelectorAll('[aria-label]')) part.removeAttribute('aria-label');
  for (const style of svg.querySelectorAll('style')) style.remove();
  svg.removeAttribute('width');
  svg.removeAttribute('height');
  return new Html(svg.outerHTML);
}

function shorten(name: string): string {
  return name.length > 26 ? `${name.slice(0, 25)}…` : name;
}
