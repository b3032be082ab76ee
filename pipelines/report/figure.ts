/** Figure values: each number that the report prints, exact, with the name by which it can be recomputed, and one way to print it. */

import { type Html, html } from '../../src/runtime/html.ts';
import type { Language } from '../../src/project/declaration.ts';

/**
 * A figure's name says where it comes from. `VIEW.COLUMN?KEY=VALUE&…` is the sum of a column over the rows of the report's election that match;
 * `VIEW.rows?…` counts them; a key that is given twice matches either value. Inside an
 * element with `data-row="VIEW?KEY=VALUE&…"`, `COLUMN?KEY=VALUE` is of that row. `manifest#/…` is a JSON pointer into manifest.json, and `finding.…`
 * is computed from other figures.
 */
export interface Count {
  readonly name: string;
  /** Null where it is unknown. */
  readonly count: bigint | null;
}

/** A share in percent, as an exact fraction. It is unknown where a part is null or the denominator is 0. */
export interface Rate {
  readonly name: string;
  readonly numerator: bigint | null;
  readonly denominator: bigint | null;
}

export type Figure = Count | Rate;

/** What a row of a view holds; `figuresOf` throws for a column that is missing. */
export type Row = Readonly<Record<string, string | number | bigint | boolean | null>>;

/** Gives the figures of one row or of a sum over rows, named by the view and the key. */
export function figuresOf(view: string, row: Row, key: readonly (readonly [string, string])[]) {
  const query = queryOf(key);
  const nameOf = (column: string) => `${view}.${column}${query === '' ? '' : `?${query}`}`;
  const read = (column: string): bigint | null => {
    const value = row[column];
    if (value === undefined) throw new Error(`The report reads ${view}.${column}, which its query does not give.`);
    return value === null ? null : BigInt(value);
  };
  return {
    count: (column: string): Count => ({ name: nameOf(column), count: read(column) }),
    rate: (column: string, numerator: string, denominator: string): Rate => ({
      name: nameOf(column),
      numerator: read(numerator),
      denominator: read(denominator),
    }),
  };
}

/** A key as `COLUMN=VALUE&…`. */
export function queryOf(key: readonly (readonly [string, string])[]): string {
  return key.map(([column, value]) => `${column}=${encodeURIComponent(value)}`).join('&');
}

/** The columns of a row that identify it, for `figuresOf`; a column that is NULL is left out. */
export function keyOf(row: Row, columns: readonly string[]): (readonly [string, string])[] {
  return columns.flatMap((column) => (row[column] === null ? [] : [[column, String(row[column])] as const]));
}

/** A count that code has taken, with a name of its own. */
export function countOf(name: string, count: number): Count {
  return { name, count: BigInt(count) };
}

export function isKnown(figure: Figure): boolean {
  if ('count' in figure) return figure.count !== null;
  return figure.numerator !== null && figure.denominator !== null && figure.denominator !== 0n;
}

/** Orders rates by their exact values; unknown ones come last in either direction. */
export function compareRates(a: Rate, b: Rate): number {
  if (!isKnown(a) || !isKnown(b)) return Number(isKnown(b)) - Number(isKnown(a));
  const difference = a.numerator! * b.denominator! - b.numerator! * a.denominator!;
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** The rate in percent, rounded half up to the given number of decimals; null where it is unknown. Charts and colours use it too. */
export function percentOf(rate: Rate, decimals = 1): number | null {
  if (!isKnown(rate)) return null;
  const scale = 10n ** BigInt(decimals);
  const rounded = (2n * 100n * scale * rate.numerator! + rate.denominator!) / (2n * rate.denominator!);
  return Number(rounded) / Number(scale);
}

/** Number formats by locale and number of decimals. Making one per figure took as long as all queries of the report. */
const formats = new Map<string, Intl.NumberFormat>();

function formatOf(locale: string, decimals: number): Intl.NumberFormat {
  const key = `${locale} ${decimals}`;
  const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  const format = formats.get(key) ?? new Intl.NumberFormat(locale, digits);
  formats.set(key, format);
  return format;
}

/** Prints figures in one language. */
export class Printer {
  private readonly language: Language;
  private readonly row: string | null;
  private readonly locale: string;

  /** @param row The row that all figures are of, as `VIEW?KEY=VALUE`; an element around them names it in `data-row`. */
  constructor(language: Language, row: string | null = null) {
    this.language = language;
    this.row = row;
    this.locale = language === 'en' ? 'en-US' : 'id-ID';
  }

  /** Prints the figures of one row, whose names then leave out the row. */
  within(row: string): Printer {
    return new Printer(this.language, row);
  }

  /** The figure as text: 81.4%, 208,131,569, or a dash where it is unknown. */
  text(figure: Figure, decimals = 1): string {
    if (!isKnown(figure)) return '–';
    if ('count' in figure) return formatOf(this.locale, 0).format(figure.count!);
    return `${formatOf(this.locale, decimals).format(percentOf(figure, decimals)!)}%`;
  }

  /** The figure as an element that names it: `value` is what is printed, `data-of` the exact fraction of a rate. */
  show(figure: Figure, decimals = 1): Html {
    const fraction = 'count' in figure || !isKnown(figure) ? null : `${figure.numerator}/${figure.denominator}`;
    const value = 'count' in figure ? figure.count : percentOf(figure, decimals)?.toFixed(decimals);
    return html`<data
      value="${String(value ?? '')}"
      data-figure="${this.nameOf(figure)}"
      ${fraction === null ? null : html` data-of="${fraction}"`}
      >${this.text(figure, decimals)}</data
    >`;
  }

  /** A time in words: November 20, 2026 at 3:00 AM. */
  time(time: string): Html {
    const words = new Intl.DateTimeFormat(this.locale, { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });
    return html`<time datetime="${time}">${words.format(new Date(time))}</time>`;
  }

  /** The numerator and the denominator of a rate, each as a figure. */
  fraction(rate: Rate): Html {
    return html`${this.show(numeratorOf(rate))} ÷ ${this.show(denominatorOf(rate))}`;
  }

  private nameOf({ name }: Figure): string {
    if (this.row === null) return name;
    const [view, query] = this.row.split('?') as [string, string];
    return name.replace(`${view}.`, '').replace(`?${query}&`, '?');
  }
}

export function numeratorOf({ name, numerator }: Rate): Count {
  return { name: `${name}#numerator`, count: numerator };
}

export function denominatorOf({ name, denominator }: Rate): Count {
  return { name: `${name}#denominator`, count: denominator };
}
