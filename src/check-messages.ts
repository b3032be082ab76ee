/** What a violation says in one sentence: one template per check, in English and in Indonesian, filled in TypeScript or in SQL. */

import { quoteIdentifier, quoteText } from './duckdb/database.ts';
import type { AnyPipeline, Language, Message, Project } from './pipeline.ts';
import { formatNumber } from './runtime/text.ts';

/** A count is a signed 32-bit integer. */
const mostPeople = formatNumber(2_147_483_647);

/** Of the checks that are not declared in SQL. What stands in braces is filled in. */
const ownMessages = {
  sum: {
    en: '{column} ({field}) is {actual}, but {parts} = {expected}',
    id: '{column} ({field}) tercatat {actual}, sedangkan {parts} = {expected}',
  },
  missing: { en: '{column} ({field}) is missing', id: '{column} ({field}) tidak tersedia' },
  null: { en: '{column} ({field}) is null', id: '{column} ({field}) bernilai null' },
  empty: { en: '{column} ({field}) is empty', id: '{column} ({field}) kosong' },
  malformed: {
    en: '{column} ({field}) is {raw}, which is not a whole number',
    id: '{column} ({field}) berisi {raw}, yang bukan bilangan bulat',
  },
  malformed_text: {
    en: '{column} ({field}) is {raw}, which is not text',
    id: '{column} ({field}) berisi {raw}, yang bukan teks',
  },
  malformed_size: {
    en: '{column} ({field}) is {raw}, which is more than {most}, the maximum of a column',
    id: '{column} ({field}) berisi {raw}, lebih dari {most}, nilai maksimum kolom',
  },
  conflicting_records: {
    en: 'the source has several records with this key. The first is published. This one is in quarantine.',
    id: 'sumber memuat beberapa data dengan kunci yang sama. Data pertama diterbitkan. Data ini dikarantina.',
  },
} as const satisfies Readonly<Record<string, Message>>;

/** What a message is made of, with the names that the columns of `violations` have. */
export interface MessageParts {
  readonly dataset: string;
  readonly check_name: string;
  readonly column_name: string;
  readonly raw_value: string | null;
  readonly expected: string | null;
  readonly actual: string | null;
}

/** The message of a check that the transformation makes. */
export function rowMessage(pipeline: AnyPipeline, parts: MessageParts, language: Language = 'en'): string {
  return join(fill(rowTemplate(pipeline, parts)[language], pipeline, parts));
}

/** The message of any violation of a project. */
export function messageOf(project: Project, parts: MessageParts, language: Language): string {
  return join(messagePieces(project, parts, language));
}

/** A piece of a message: the template's own words, or what is filled in, with its name in the template. */
export interface MessagePiece {
  readonly name: string | null;
  readonly text: string;
}

/** The message of any violation, in pieces, so that a page can mark the numbers in it. */
export function messagePieces(
  { pipelines, checks }: Project,
  parts: MessageParts,
  language: Language,
): readonly MessagePiece[] {
  const pipeline = pipelines.find(({ table }) => table === parts.dataset);
  if (pipeline === undefined) return [{ name: null, text: parts.check_name }];
  const own = checks.find(({ name }) => name === parts.check_name)?.message;
  return fill((own ?? rowTemplate(pipeline, parts))[language], pipeline, parts);
}

function join(pieces: readonly MessagePiece[]): string {
  return pieces.map(({ text }) => text).join('');
}

function rowTemplate({ checks, columns }: AnyPipeline, { check_name, column_name, raw_value }: MessageParts): Message {
  if (checks.some(({ name }) => name === check_name)) return ownMessages.sum;
  if (check_name !== 'malformed') return ownMessages[check_name as keyof typeof ownMessages];
  if (columns[column_name]?.kind === 'text') return ownMessages.malformed_text;
  // Digits alone are malformed only where they are too many.
  return /^[0-9]+$/.test(raw_value ?? '') ? ownMessages.malformed_size : ownMessages.malformed;
}

function fill(template: string, pipeline: AnyPipeline, parts: MessageParts): MessagePiece[] {
  const { dataset, check_name, column_name, raw_value, expected, actual } = parts;
  const values: Readonly<Record<string, () => string>> = {
    dataset: () => dataset,
    column: () => column_name,
    field: () => pipeline.columns[column_name]?.field ?? '',
    raw: () => JSON.stringify(raw_value),
    expected: () => expected ?? '',
    actual: () => actual ?? '',
    most: () => mostPeople,
    limit: () => /\d+/.exec(expected ?? '')?.[0] ?? '',
    parts: () => pipeline.checks.find(({ name }) => name === check_name)!.parts.join(' + '),
  };
  return template
    .split(/\{(\w+)\}/)
    .map((piece, index) => (index % 2 === 0 ? { name: null, text: piece } : { name: piece, text: values[piece]!() }));
}

/** The English message of a check across tables, as SQL over the columns that its query gives. */
export function messageSql({ en }: Message, pipelines: readonly AnyPipeline[]): string {
  const fields = pipelines.flatMap(({ table, columns }) =>
    Object.entries(columns).map(
      ([name, { field }]) =>
        `WHEN dataset = ${quoteText(table)} AND column_name = ${quoteText(name)} THEN ${quoteText(field)}`,
    ),
  );
  const values: Readonly<Record<string, string>> = {
    dataset: quoteIdentifier('dataset'),
    column: quoteIdentifier('column_name'),
    field: `CASE ${fields.join(' ')} ELSE '' END`,
    expected: quoteIdentifier('expected'),
    actual: quoteIdentifier('actual'),
    limit: "regexp_extract(expected, '\\d+')",
  };
  const pieces = en.split(/\{(\w+)\}/).map((piece, index) => (index % 2 === 0 ? quoteText(piece) : values[piece]!));
  return `concat(${pieces.join(', ')})`;
}
