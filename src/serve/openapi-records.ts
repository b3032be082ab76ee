/** Describes the records of a pipeline's endpoint for the OpenAPI document. */

import type { AnyPipeline } from '../pipeline.ts';

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

/** No field is required and every count may be null: what the source left in doubt is served as the source had it. */
export function documentRecord({ title, comment, columns }: AnyPipeline): Json {
  const fields = Object.values(columns).map((column) => [
    column.field,
    {
      type: column.kind === 'count' ? ['string', 'null'] : 'string',
      description: column.kind === 'text' ? column.comment : `${column.comment} Decimal digits.`,
    },
  ]);
  const description = `${comment} Values that are missing, empty or malformed in the source are returned as received.`;
  return { type: 'object', title, description, properties: Object.fromEntries(fields) as Json };
}

/** `voting_rights_users` has records of the schema VotingRightsUsersRecord. */
export function schemaName({ table }: AnyPipeline): string {
  return `${table.replaceAll(/(?:^|_)(.)/g, (_match, letter: string) => letter.toUpperCase())}Record`;
}
