/** Describes the records of a pipeline's endpoint for the OpenAPI document. */

import { kindOf } from '../kinds/kinds.ts';
import type { AnyPipeline } from '../project/declaration.ts';

/** A piece of the document: JSON without further structure. */
export type Json = Readonly<Record<string, unknown>>;

export function documentEnvelope(pipeline: AnyPipeline): Json {
  const record = { $ref: `#/components/schemas/${schemaName(pipeline)}` };
  return {
    type: 'object',
    required: ['count', 'data'],
    properties: {
      count: { type: 'integer', minimum: 0, description: 'Number of records in this response, not in the dataset.' },
      data: {
        description: 'The record itself if there is exactly one. Otherwise an array of records, which can be empty.',
        oneOf: [record, { type: 'array', items: record }],
      },
    },
  };
}

/** No field is required and every measure may be null: what the source left in doubt is served as the source had it. */
export function documentRecord({ title, comment, columns, key }: AnyPipeline): Json {
  const fields = Object.entries(columns).map(([name, column]) => {
    const { type, ...schema } = kindOf(column).schema;
    const description =
      column.kind === 'integer' || column.kind === 'count' ? `${column.comment} Decimal digits.` : column.comment;
    const mayBeNull = column.kind !== 'text' && !key.includes(name);
    return [
      column.field,
      { type: mayBeNull ? [type, 'null'] : type, ...(column.kind === 'count' ? {} : schema), description },
    ];
  });
  const description = `${comment} Values that are missing, empty or malformed in the source are returned as received.`;
  return { type: 'object', title, description, properties: Object.fromEntries(fields) as Json };
}

/** `open_lists` has records of the schema OpenListsRecord. */
export function schemaName({ table }: AnyPipeline): string {
  return `${table.replaceAll(/(?:^|_)(.)/g, (_match, letter: string) => letter.toUpperCase())}Record`;
}
