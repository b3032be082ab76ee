/** Creates the message of a violation from one template per check, in English and Indonesian, in TypeScript or in SQL. */

import { quoteText } from '../runtime/database.ts';
import { kindOf } from '../kinds/kinds.ts';
import { type AnyPipeline, type Project, sumChecks } from '../project/declaration.ts';
import type { Language, Message } from '../project/sql-file.ts';

/** Templates of the checks that aren't declared in SQL. Names in braces are filled in. */
export const ownMessages = {
  sum: {
    en: '{column} ({field}) is {actual}, but {parts} = {expected}',
    id: '{column} ({field}) tercatat {actual}, sedangkan {parts} = {expected}',
  },
  missing: { en: '{column} ({field}) is missing', id: '{column} ({field}) tidak tersedia' },
  null: { en: '{column} ({field}) is null', id: '{column} ({field}) bernilai null' },
  empty: { en: '{column} ({field}) is empty', id: '{column} ({field}) kosong' },
  malformed: {
    en: '{column} ({field}) is {raw}, which {problem}',
    id: '{column} ({field}) berisi {raw}, yang {problem}',
  },
  range: {
    en: '{column} ({field}) is {actual}, but must be {expected}',
    id: '{column} ({field}) tercatat {actual}, di luar batas yang ditetapkan ({expected})',
  },
  pattern: {
    en: '{column} ({field}) is "{actual}", which does not match the pattern {expected}',
    id: '{column} ({field}) tercatat "{actual}", yang tidak sesuai dengan pola {expected}',
  },
  reference: {
    en: '{column} ({field}) is {actual}, which is not a value of {expected}',
    id: '{column} ({field}) tercatat {actual}, yang bukan nilai dari {expected}',
  },
  conflicting_records: {
    en: 'the source has several records with this key. The first is published. This one is in quarantine.',
    id: 'sumber memuat beberapa data dengan kunci yang sama. Data pertama diterbitkan. Data ini dikarantina.',
  },
} as const satisfies Readonly<Record<string, Message>>;

export interface MessageParts {
  readonly dataset: string;
  readonly check_name: string;
  readonly column_name: string;
  readonly raw_value: string | null;
  readonly expected: string | null;
  readonly actual: string | null;
}

export function rowMessage(pipeline: AnyPipeline, parts: MessageParts, language: Language = 'en'): string {
  return join(fill(rowTemplate(pipeline, parts), pipeline, parts, language));
}

export function messageOf(project: Project, parts: MessageParts, language: Language): string {
  return join(messagePieces(project, parts, language));
}

/** A piece of a message. `name` is the placeholder, or null for literal text. */
export interface MessagePiece {
  readonly name: string | null;
  readonly text: string;
}

/** Returns the message of any violation in pieces, so that a page can mark its numbers. */
export function messagePieces(
  { pipelines, checks }: Project,
  parts: MessageParts,
  language: Language,
): readonly MessagePiece[] {
  const pipeline = pipelines.find(({ table }) => table === parts.dataset);
  if (pipeline === undefined) return [{ name: null, text: parts.check_name }];
  const own = checks.find(({ name }) => name === parts.check_name)?.message;
  return fill(own ?? rowTemplate(pipeline, parts), pipeline, parts, language);
}

function join(pieces: readonly MessagePiece[]): string {
  return pieces.map(({ text }) => text).join('');
}

function rowTemplate({ checks }: AnyPipeline, { check_name }: MessageParts): Message {
  const declared = checks.find(({ name }) => name === check_name);
  return ownMessages[declared?.kind ?? (check_name as keyof typeof ownMessages)];
}

function fill(message: Message, pipeline: AnyPipeline, parts: MessageParts, language: Language): MessagePiece[] {
  const template = message[language] ?? message.en;
  const { dataset, check_name, column_name, raw_value, expected, actual } = parts;
  const values: Readonly<Record<string, () => string>> = {
    dataset: () => dataset,
    column: () => column_name,
    field: () => pipeline.columns[column_name]?.field ?? '',
    raw: () => JSON.stringify(raw_value),
    expected: () => expected ?? '',
    actual: () => actual ?? '',
    problem: () => kindOf(pipeline.columns[column_name]!).malformed(raw_value)[language],
    limit: () => /\d+/.exec(expected ?? '')?.[0] ?? '',
    parts: () =>
      sumChecks(pipeline)
        .find(({ name }) => name === check_name)!
        .parts.join(' + '),
  };
  return template
    .split(/\{(\w+)\}/)
    .map((piece, index) => (index % 2 === 0 ? { name: null, text: piece } : { name: piece, text: values[piece]!() }));
}

/** Returns the English message of a check across tables as SQL over the columns of its query. */
export function messageSql({ en }: Message, pipelines: readonly AnyPipeline[]): string {
  const fields = pipelines.flatMap(({ table, columns }) =>
    Object.entries(columns).map(
      ([name, { field }]) =>
        `WHEN dataset = ${quoteText(table)} AND column_name = ${quoteText(name)} THEN ${quoteText(field)}`,
    ),
  );
  const values: Readonly<Record<string, string>> = {
    dataset: 'dataset',
    column: 'column_name',
    field: `CASE ${fields.join(' ')} ELSE '' END`,
    expected: 'expected',
    actual: 'actual',
    limit: "regexp_extract(expected, '[0-9]+', 0)",
  };
  const pieces = en
    .split(/\{(\w+)\}/)
    .map((piece, index) => (index % 2 === 0 ? quoteText(piece) : `coalesce(${values[piece]!}, '')`));
  return `concat(${pieces.join(', ')})`;
}
