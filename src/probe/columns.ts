/** Guesses the kind of each field, with the values that speak for and against it. */

import { readDay } from '../kinds/date.ts';
import { readMoment } from '../kinds/timestamp.ts';
import type { DeclaredColumn } from '../project/declaration.ts';
import { readField } from '../project/field-path.ts';
import { consistencyColumn, ownRowColumns } from '../project/reserved.ts';
import { isObject, type ProbedRecord } from './envelope.ts';

export interface ProbedColumn {
  readonly name: string;
  readonly definition: DeclaredColumn;
  readonly why: string;
  /** The text of each record's value; null for null, missing and empty ones. */
  readonly values: readonly (string | null)[];
}

export interface ProbedColumns {
  readonly columns: readonly ProbedColumn[];
  /** Fields that no column can hold, such as arrays. */
  readonly skipped: readonly string[];
}

const maxDepth = 3;
const maxCount = 2_147_483_647;
/** Names of numbers that identify or order something, so that their sum has no meaning. */
const identifying =
  /(^|_)(id|ids|no|nr|num|number|code|kode|key|year|tahun|month|day|zip|postcode|rank|index|seq|version|phone)($|_)/;

export function findColumns(records: readonly ProbedRecord[]): ProbedColumns {
  const fields = new Set<string>();
  const skipped = new Set<string>();
  for (const record of records) collectFields(record, [], fields, skipped);
  const names = new Set<string>();
  const columns = [...fields].map((field): ProbedColumn => {
    const name = nameColumn(field, names);
    names.add(name);
    const raw = records.map((record) => readField(record, field));
    return { name, ...guessKind(field, name, raw), values: raw.map(textOf) };
  });
  return { columns, skipped: [...skipped].filter((field) => !fields.has(field)) };
}

function collectFields(record: ProbedRecord, path: readonly string[], fields: Set<string>, skipped: Set<string>): void {
  for (const [name, value] of Object.entries(record)) {
    const own = [...path, name];
    const field = own.length === 1 && !name.startsWith('/') ? name : `/${own.map(escape).join('/')}`;
    if (isObject(value) && own.length < maxDepth) collectFields(value, own, fields, skipped);
    else if (typeof value === 'object' && value !== null) skipped.add(field);
    else fields.add(field);
  }
}

function escape(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Returns a field's name in snake_case, different from all names so far. */
export function nameColumn(field: string, taken: ReadonlySet<string>): string {
  const words = field
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, '$1_$2')
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '');
  const named = /^[a-z]/.test(words) ? words : `field_${words}`.replace(/_$/, '');
  const isReserved =
    named === consistencyColumn || ownRowColumns.has(named) || named === 'constructor' || named === 'prototype';
  const base = isReserved ? `${named}_value` : named;
  for (let count = 1; ; count += 1) {
    const name = count === 1 ? base : `${base}_${count}`;
    if (!taken.has(name)) return name;
  }
}

function textOf(value: unknown): string | null {
  const isScalar = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  return isScalar && value !== '' ? String(value) : null;
}

interface Guess {
  readonly kind: string;
  readonly isOf: (text: string) => boolean;
  readonly one: string;
  readonly many: string;
}

const isWhole = (text: string): boolean => /^(0|[1-9]\d*)$/.test(text);
const isInteger = (text: string): boolean =>
  /^(0|-?[1-9]\d{0,18})$/.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text);

/** From the narrowest to the widest. */
const guesses: readonly Guess[] = [
  { kind: 'boolean', isOf: (text) => text === 'true' || text === 'false', one: 'true or false', many: 'true or false' },
  {
    kind: 'count',
    isOf: (text) => isWhole(text) && Number(text) <= maxCount,
    one: 'a whole number from 0',
    many: 'whole numbers from 0',
  },
  { kind: 'integer', isOf: isInteger, one: 'a whole number', many: 'whole numbers' },
  { kind: 'decimal', isOf: (text) => /^-?(0|[1-9]\d*)(\.\d+)?$/.test(text), one: 'a decimal', many: 'decimals' },
  { kind: 'date', isOf: (text) => readDay(text) !== null, one: 'a date', many: 'dates' },
  {
    kind: 'timestamp',
    isOf: (text) => readMoment(text, undefined) !== null,
    one: 'a time with an offset',
    many: 'times with an offset',
  },
  { kind: 'local time', isOf: (text) => readMoment(text, '+00:00') !== null, one: 'a time', many: 'times' },
];
/** Share of the values that may contradict a kind. They become NULL, with a violation. */
const tolerated = 0.05;

function guessKind(field: string, name: string, raw: readonly unknown[]): Pick<ProbedColumn, 'definition' | 'why'> {
  const texts = raw.map(textOf).filter((text) => text !== null);
  const absent = raw.length - texts.length;
  const described = { field, comment: describeField(field), ...(absent > 0 && { nullable: true as const }) };
  const missing = absent === 0 ? '' : `; ${absent} of ${raw.length} are null, empty or missing`;
  if (texts.length === 0)
    return { definition: { ...described, kind: 'text' }, why: 'all values are null, empty or missing' };
  const padded = texts.find((text) => /^0\d+$/.test(text));
  // 11.010 under a name such as `kode` is a code, whose zeros count.
  const isCode = identifying.test(name) && texts.some((text) => text.includes('.'));
  let contrary = padded === undefined ? '' : `; ${quote(padded)} has a leading zero`;
  for (const { kind, isOf, one, many } of guesses) {
    if (isCode && kind === 'decimal') continue;
    const others = texts.filter((text) => !isOf(text));
    if (others.length > texts.length * tolerated) {
      // The value that excludes the kind that most values have.
      if (others.length < texts.length && padded === undefined) contrary = `; ${quote(others[0]!)} is not ${one}`;
      continue;
    }
    const found =
      others.length === 0
        ? `all ${texts.length} are ${many}`
        : `${texts.length - others.length} of ${texts.length} are ${many}, but ${quote(others[0]!)} is not`;
    const usual = texts.filter(isOf);
    return {
      definition: { ...described, ...definitionOf(kind, name, usual) },
      why: found + whyKind(kind, name) + missing,
    };
  }
  return {
    definition: { ...described, kind: 'text' },
    why: `${padded === undefined ? `such as ${quote(texts[0]!)}` : ''}${contrary}${missing}`.replace(/^; /, ''),
  };
}

type Kinded = Omit<DeclaredColumn, 'field' | 'comment' | 'nullable'>;

function definitionOf(kind: string, name: string, texts: readonly string[]): Kinded & DeclaredKind {
  switch (kind) {
    case 'count':
      return { kind: identifying.test(name) ? 'integer' : 'count' };
    case 'decimal': {
      const scale = Math.max(...texts.map((text) => (text.split('.')[1] ?? '').length));
      const whole = Math.max(...texts.map((text) => text.replace('-', '').split('.')[0]!.length));
      return { kind: 'decimal', precision: Math.min(38, Math.max(18, whole + scale + 2)), scale };
    }
    case 'local time':
      return { kind: 'timestamp', offset: '+00:00' };
    default:
      return { kind: kind as 'boolean' | 'integer' | 'date' | 'timestamp' };
  }
}

type DeclaredKind =
  | { readonly kind: 'text' | 'count' | 'boolean' | 'date' | 'integer' | 'timestamp'; readonly offset?: string }
  | { readonly kind: 'decimal'; readonly precision: number; readonly scale: number };

function whyKind(kind: string, name: string): string {
  if (kind === 'count' && identifying.test(name)) return ', and the name is that of an identifier';
  return kind === 'local time' ? ' without an offset; +00:00 is a guess' : '';
}

function describeField(field: string): string {
  const words = field
    .replaceAll(/[/_.-]+/g, ' ')
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .trim()
    .toLowerCase();
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}

/** Cut, so that a table stays readable. */
function quote(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 39)}…` : text);
}
