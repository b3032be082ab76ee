/** Describes the records of a pipeline's endpoint for the OpenAPI document. */

import { kindOf } from '../kinds/kinds.ts';
import type { AnyPipeline } from '../project/declaration.ts';
import { fieldPath, pointerPath } from '../project/field-path.ts';
import { shapeOf } from '../source/decode/document-shape.ts';

export type Json = Readonly<Record<string, unknown>>;

interface ObjectSchema {
  readonly type: string;
  readonly required?: string[];
  readonly properties: Record<string, object>;
}

export function documentContent(pipeline: AnyPipeline): Json {
  const record = { $ref: `#/components/schemas/${schemaName(pipeline)}` };
  const { format, records, reportedCount, next, hasMore } = shapeOf(pipeline);
  if (format === 'ndjson')
    return {
      'application/x-ndjson': { schema: { type: 'string', description: 'One record per line.', items: record } },
    };
  const list = { type: 'array', items: record };
  if (records === '') return { 'application/json': { schema: list } };
  const schema: ObjectSchema = { type: 'object', required: [], properties: {} };
  if (reportedCount !== undefined)
    writeSchema(schema, pointerPath(reportedCount), {
      type: 'integer',
      minimum: 0,
      description: 'Number of records in this response, not in the dataset.',
    });
  writeSchema(schema, pointerPath(records), {
    description: 'The record itself if there is exactly one. Otherwise an array of records, which can be empty.',
    oneOf: [record, list],
  });
  if (hasMore !== undefined)
    writeSchema(schema, pointerPath(hasMore), { type: 'boolean', description: 'True if another page follows.' });
  if (next !== undefined)
    writeSchema(schema, pointerPath(next), {
      type: ['string', 'null'],
      description: 'The next page. Null on the last page.',
    });
  return { 'application/json': { schema } };
}

/** Adds the schema of a member and its parent objects. They are required if the root has a list of required members. */
function writeSchema(root: ObjectSchema, path: readonly string[], schema: Json): void {
  let place = root;
  for (const name of path.slice(0, -1)) {
    if (place.required?.includes(name) === false) place.required.push(name);
    place = (place.properties[name] ??= {
      type: 'object',
      ...(root.required !== undefined && { required: [] }),
      properties: {},
    }) as ObjectSchema;
  }
  place.required?.push(path.at(-1)!);
  place.properties[path.at(-1)!] = schema;
}

/** No field is required and measures may be null, because values are served as the source sent them. */
export function documentRecord({ title, comment, columns, key }: AnyPipeline): Json {
  const description = `${comment} Values that are missing, empty or malformed in the source are returned as received.`;
  const record = { type: 'object', title, description, properties: {} };
  for (const [name, column] of Object.entries(columns)) {
    const { type, ...schema } = kindOf(column).schema;
    const isWhole = column.kind === 'integer' || column.kind === 'count';
    const mayBeNull = column.kind !== 'text' && !key.includes(name);
    writeSchema(record, fieldPath(column.field), {
      type: mayBeNull ? [type, 'null'] : type,
      ...(column.kind === 'count' ? {} : schema),
      description: isWhole ? `${column.comment} Decimal digits.` : column.comment,
    });
  }
  return record;
}

/** Returns the schema's name, such as OpenListsRecord for `open_lists`. */
export function schemaName({ table }: AnyPipeline): string {
  return `${table.replaceAll(/(?:^|_)(.)/g, (_match, letter: string) => letter.toUpperCase())}Record`;
}
