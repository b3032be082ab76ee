/** Defines the figures of the report: exact numbers, each with a name by which it can be recomputed. */

import { type Html, html } from '../../src/runtime/html.ts';
import type { Language } from '../../src/project/sql-file.ts';

/**
 * A count. Its name shows how to recompute it. `VIEW.COLUMN?KEY=VALUE&…` is the sum of a column over the matching rows of the election, and
 * `VIEW.rows?…` is their number. A repeated key matches either value. Inside an element with `data-row="VIEW?KEY=VALUE&…"`,
 * `COLUMN?KEY=VALUE` is a value of that row. `manifest#/…` is a JSON pointer into manifest.json. `finding.…` is computed from other figures.
 */
export interface Count {
  readonly name: string;
  readonly count: bigint | null;
}

/** A share in percent, as an exact fraction. It is unknown if a part is null or the denominator is 0. */
export interface Rate {
  readonly name: string;
  readonly numerator: bigint | null;
  readonly denominator: bigint | null;
}

export type Figure = Count | Rate;

export type Row = Readonly<Record<string, string | number | bigint | boolean | null>>;

export function figuresOf(view: string, row: Row, key: readonly (readonly [string, string])[]) {
  const query = queryOf(key);
  const nameOf = (column: string) => `${view}.${column}${query === '' ? '' : `?${query}`}`;
  const read = (column: string): bigint | null => {
    const value = row[column];
    if (value === undefined) throw new Error(`The report reads ${view}.${column}, which its query does not return.`);
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

export function queryOf(key: readonly (readonly [string, string])[]): string {
  return key.map(([column, value]) => `${column}=${encodeURIComponent(value)}`).join('&');
}

/** Returns the key of a row for `figuresOf`, without NULL columns. */
export function keyOf(row: Row, columns: readonly string[]): (readonly [string, string])[] {
  return columns.flatMap((column) => (row[column] === null ? [] : [[column, String(row[column])] as const]));
}

export function countOf(name: string, count: number): Count {
  return { name, count: BigInt(count) };
}

export function isKnown(figure: Figure): boolean {
  if ('count' in figure) return figure.count !== null;
  return figure.numerator !== null && figure.denominator !== null && figure.denominator !== 0n;
}

/** Compares rates by their exact values. Unknown rates come last. */
export function compareRates(a: Rate, b: Rate): number {
  if (!isKnown(a) || !isKnown(b)) return Number(isKnown(b)) - Number(isKnown(a));
  const difference = a.numerator! * b.denominator! - b.numerator! * a.denominator!;
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** Returns the rate in percent, rounded half up to the given number of decimals; null if unknown. */
export function percentOf(rate: Rate, decimals = 1): number | null {
  if (!isKnown(rate)) return null;
  const scale = 10n ** BigInt(decimals);
  const rounded = (2n * 100n * scale * rate.numerator! + rate.denominator!) / (2n * rate.denominator!);
  return Number(rounded) / Number(scale);
}

/** Number formats by locale and number of decimals. Creating one per figure took as long as all queries of the report. */
const formats = new Map<string, Intl.NumberFormat>();

function formatOf(locale: string, decimals: number): Intl.NumberFormat {
  const key = `${locale} ${decimals}`;
  const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  const format = formats.get(key) ?? new Intl.NumberFormat(locale, digits);
  formats.set(key, format);
  return format;
}

export class Printer {
  private readonly language: Language;
  private readonly row: string | null;
  private readonly locale: string;

  /** @param row The row of all figures, as `VIEW?KEY=VALUE`. A surrounding element names it in `data-row`. */
  constructor(language: Language, row: string | null = null) {
    this.language = language;
    this.row = row;
    this.locale = language === 'en' ? 'en-US' : 'id-ID';
  }

  /** Returns a printer for the figures of one row, whose names omit the row. */
  within(row: string): Printer {
    return new Printer(this.language, row);
  }

  /** Formats a figure as text: 81.4%, 208,131,569, or a dash if unknown. */
  text(figure: Figure, decimals = 1): string {
    if (!isKnown(figure)) return '–';
    if ('count' in figure) return formatOf(this.locale, 0).format(figure.count!);
    return `${formatOf(this.locale, decimals).format(percentOf(figure, decimals)!)}%`;
  }

  /** Returns an element that names the figure. `value` is the printed number, `data-of` the exact fraction of a rate. */
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

  /** Returns an element with a time such as November 20, 2026 at 3:00 AM. */
  time(time: string): Html {
    const format = new Intl.DateTimeFormat(this.locale, { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });
    return html`<time datetime="${time}">${format.format(new Date(time))}</time>`;
  }

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
