/** Guesses the kind of each field, with the values that speak for and against it. */

import { RekapError } from '../errors.ts';
import type { DeclaredColumn } from '../project/declaration.ts';
import { escapePointer, readPointer } from '../project/field-path.ts';
import { consistencyColumn, ownRowColumns } from '../project/reserved.ts';
import { maxColumns } from '../project/validate.ts';
import { formatNumber } from '../runtime/text.ts';
import { type Envelope, isObject, parseBody, type ProbedRecord } from './envelope.ts';
import { type ProbedField, readFields } from './field-reader.ts';
import type { ProbeResponse } from './prober.ts';

export interface ProbedColumn {
  readonly name: string;
  readonly definition: DeclaredColumn;
  readonly why: string;
  /** The text of each record's value; null for null, missing and empty ones. */
  readonly values: readonly (string | null)[];
}

export interface ProbedColumns {
  readonly columns: readonly ProbedColumn[];
  /** Fields that no column can hold. */
  readonly skipped: readonly string[];
}

export const whySkipped = 'no column can hold an array, a deep object, or an inner member named "-"';

const maxDepth = 3;
/** Names of numbers that identify or order something, so that their sum has no meaning. */
const identifying =
  /(^|_)(id|ids|no|nr|num|number|code|kode|key|year|tahun|month|day|zip|postcode|rank|index|seq|version|phone)($|_)/;

/**
 * @param responses The responses that contained the records.
 * @throws `envelope` if a dataset can't have as many columns as the records have fields.
 */
export function findColumns(
  records: readonly ProbedRecord[],
  responses: readonly ProbeResponse[],
  envelope: Envelope,
): ProbedColumns {
  const fields = new Set<string>();
  const skipped = new Set<string>();
  for (const record of records) collectFields(record, [], fields, skipped);
  if (fields.size === 0 || fields.size > maxColumns) {
    const what = `The records have ${formatNumber(fields.size)} fields for columns, but a dataset has 1 to ${formatNumber(maxColumns)} columns.`;
    const next = 'Give the URL of another list, or write the pipeline yourself with the columns that you need.';
    throw new RekapError('envelope', what, next);
  }
  const read = readFields(records, [...fields], responses, envelope);
  const names = new Set<string>();
  const columns = [...fields].map((field, place): ProbedColumn => {
    const name = nameColumn(field, names);
    names.add(name);
    return { name, ...guessKind(field, name, read[place]!), values: read[place]!.values };
  });
  const values = namesIn(records, responses, envelope);
  const definition = {
    kind: 'text',
    field: 'name',
    comment: 'Name of the record in the object.',
    from: 'name',
  } as const;
  const why = 'the names of the records in their object';
  const ofNames = values === null ? [] : [{ name: nameColumn('name', names), definition, why, values }];
  return { columns: [...ofNames, ...columns], skipped: [...skipped].filter((field) => !fields.has(field)) };
}

/** Returns the names of the records if they are members of an object, or null. */
function namesIn(
  records: readonly ProbedRecord[],
  [first]: readonly ProbeResponse[],
  envelope: Envelope,
): string[] | null {
  const value = first === undefined ? null : readPointer(parseBody(first.text)?.value, envelope.records);
  const names = isObject(value) && Object.values(value).every(isObject) ? Object.keys(value) : [];
  return names.length === records.length ? names : null;
}

function collectFields(record: ProbedRecord, path: readonly string[], fields: Set<string>, skipped: Set<string>): void {
  for (const [name, value] of Object.entries(record)) {
    const own = [...path, name];
    const isPlain = own.length === 1 && /\S/.test(name) && !name.startsWith('/');
    const field = isPlain ? name : `/${own.map(escapePointer).join('/')}`;
    // In a pointer, - is an index without a value.
    if (own.length > 1 && own.includes('-')) skipped.add(field);
    else if (isObject(value) && own.length < maxDepth) collectFields(value, own, fields, skipped);
    else if (typeof value === 'object' && value !== null) skipped.add(field);
    else fields.add(field);
  }
}

const maxName = 60;

/** Returns a field's name in snake_case, different from all names so far. */
export function nameColumn(field: string, taken: ReadonlySet<string>): string {
  const words = field
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, '$1_$2')
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .slice(0, maxName)
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

/** The kinds to try, the narrowest first. */
const guesses = [
  { kind: 'boolean', one: 'true or false', many: 'true or false' },
  { kind: 'count', isNumber: true, one: 'a whole number from 0', many: 'whole numbers from 0' },
  { kind: 'integer', isNumber: true, one: 'a whole number', many: 'whole numbers' },
  { kind: 'decimal', isNumber: true, one: 'a decimal', many: 'decimals' },
  { kind: 'date', one: 'a date', many: 'dates' },
  { kind: 'timestamp', one: 'a time with an offset', many: 'times with an offset' },
  { kind: 'local time', one: 'a time', many: 'times' },
];
/** Share of the values that may contradict a kind. They become NULL, with a violation. */
const tolerated = 0.05;

function guessKind(
  field: string,
  name: string,
  { values, accepts }: ProbedField,
): Pick<ProbedColumn, 'definition' | 'why'> {
  const texts = values.filter((value) => value !== null);
  const absent = values.length - texts.length;
  const described = { field, comment: describeField(field), ...(absent > 0 && { nullable: true as const }) };
  const missing = absent === 0 ? '' : `; ${absent} of ${values.length} are null, empty or missing`;
  if (texts.length === 0)
    return { definition: { ...described, kind: 'text' }, why: 'all values are null, empty or missing' };
  // Numbers would lose the zeros of 0123 and of the code 11.10.
  const padded = texts.find((text) => /^-?0\d/.test(text));
  const isCode =
    (identifying.test(name) || /code|kode/.test(name)) &&
    texts.some((text) => text.includes('.')) &&
    accepts({ ...described, kind: 'text' }).every(Boolean);
  let contrary = padded === undefined ? '' : `; ${quote(padded)} has a leading zero`;
  for (const { kind, isNumber, one, many } of guesses) {
    if (isNumber === true && (isCode || padded !== undefined)) continue;
    const usual = kind === 'decimal' ? texts.filter((text) => decimalParts.test(text)) : texts;
    const accepted = accepts({ ...described, ...definitionOf(kind, usual) });
    const others = texts.filter((_text, at) => !accepted[at]);
    if (others.length > texts.length * tolerated) {
      // The value that excludes the kind that most values have.
      if (others.length < texts.length && padded === undefined) contrary = `; ${quote(others[0]!)} is not ${one}`;
      continue;
    }
    const found =
      others.length === 0
        ? `all ${texts.length} are ${many}`
        : `${texts.length - others.length} of ${texts.length} are ${many}, but ${quote(others[0]!)} is not`;
    const isIdentifier = kind === 'count' && identifying.test(name);
    return {
      definition: { ...described, ...(isIdentifier ? { kind: 'integer' } : definitionOf(kind, usual)) },
      why: found + whyKind(kind, isIdentifier) + missing,
    };
  }
  const definition = { ...described, kind: 'text' } as const;
  const refused = accepts(definition).filter((isText) => !isText).length;
  const notText = refused === 0 ? '' : `; ${refused} of ${texts.length} are not strings, which a text column requires`;
  const example = padded === undefined ? `such as ${quote(texts[0]!)}` : '';
  return { definition, why: `${example}${contrary}${notText}${missing}`.replace(/^; /, '') };
}

/** Digits before the point, digits after it, and the exponent. */
const decimalParts = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,2}))?$/;

function definitionOf(kind: string, texts: readonly string[]) {
  if (kind === 'local time') return { kind: 'timestamp', offset: '+00:00' } as const;
  if (kind !== 'decimal') return { kind: kind as 'count' | 'boolean' | 'integer' | 'date' | 'timestamp' };
  const parts = texts.map((text) => decimalParts.exec(text)!);
  const scale = Math.max(0, ...parts.map(([, , fraction = '', exponent = '0']) => fraction.length - Number(exponent)));
  const whole = Math.max(0, ...parts.map(([, digits, , exponent = '0']) => digits!.length + Number(exponent)));
  const precision = Math.min(38, Math.max(18, whole + scale + 2));
  return { kind: 'decimal', precision, scale: Math.min(38, scale) } as const;
}

function whyKind(kind: string, isIdentifier: boolean): string {
  if (isIdentifier) return ', and the name is that of an identifier';
  return kind === 'local time' ? ' without an offset; +00:00 is a guess' : '';
}

function describeField(field: string): string {
  const words = field
    .replaceAll(/[/_.-]+/g, ' ')
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .trim()
    .toLowerCase();
  return words === '' ? `The field ${field}.` : `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}

/** Cut, so that a table stays readable. */
function quote(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 39)}…` : text);
}
