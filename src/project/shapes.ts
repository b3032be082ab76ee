/** Shapes of declarations in project files and in manifests. Unknown properties are errors. */

import * as v from 'valibot';
import { severities } from '../stages.ts';
import type {
  ColumnDefinition,
  DeclaredColumn,
  DeclaredPipeline,
  Project,
  ProjectDeclaration,
  ReaderSheet,
  ReportSection,
} from './declaration.ts';
import {
  auth,
  incremental,
  named,
  optionalSettings,
  settings,
  parameter,
  partition,
  text,
  urlPath,
  whole,
} from './source-shapes.ts';

const separator = v.exactOptional(v.picklist(['.', ',', ' ', "'"]));

const columnOf = <Comment extends v.ObjectEntries[string]>(comment: Comment) => {
  const described = { field: named, comment, nullable: v.exactOptional(v.literal(true)) };
  return v.variant('kind', [
    v.strictObject({ ...described, kind: v.picklist(['boolean', 'double', 'json']) }),
    v.strictObject({
      ...described,
      kind: v.literal('text'),
      from: v.exactOptional(v.picklist(['any', 'name', 'request'])),
    }),
    v.strictObject({ ...described, kind: v.literal('count'), group: separator }),
    v.strictObject({ ...described, kind: v.literal('date'), format: v.exactOptional(named) }),
    v.strictObject({
      ...described,
      kind: v.literal('integer'),
      from: v.exactOptional(v.literal('request')),
      min: v.exactOptional(whole),
      max: v.exactOptional(whole),
      group: separator,
    }),
    v.strictObject({
      ...described,
      kind: v.literal('decimal'),
      precision: v.pipe(whole, v.minValue(1), v.maxValue(38)),
      scale: v.pipe(whole, v.minValue(0), v.maxValue(38)),
      point: separator,
      group: separator,
    }),
    v.strictObject({
      ...described,
      kind: v.literal('timestamp'),
      offset: v.exactOptional(v.pipe(text, v.regex(/^[+-]\d{2}:\d{2}$/, 'is not an offset such as +07:00'))),
      format: v.exactOptional(named),
      cut: v.exactOptional(v.literal(true)),
    }),
  ]);
};

const check = { name: named, severity: v.picklist(severities) };
const bound = v.exactOptional(v.union([v.pipe(v.number(), v.finite()), named]));

const rowCheck = v.variant('kind', [
  v.strictObject({ ...check, kind: v.literal('sum'), whole: named, parts: v.array(named) }),
  v.strictObject({ ...check, kind: v.literal('range'), column: named, min: bound, max: bound }),
  v.strictObject({ ...check, kind: v.literal('pattern'), column: named, pattern: named }),
  v.strictObject({ ...check, kind: v.literal('reference'), column: named, target: named }),
]);

const pipeline = {
  table: named,
  title: named,
  comment: named,
  unit: v.exactOptional(v.pipe(named, v.regex(/^[^.]+$/, 'contains a full stop'))),
  path: urlPath,
  request: v.exactOptional(v.strictObject({ method: v.literal('POST'), body: v.record(text, v.unknown()) })),
  parameters: v.exactOptional(v.record(parameter, text)),
  partition: v.exactOptional(partition),
  incremental: v.exactOptional(incremental),
  columns: v.record(text, columnOf(named)) satisfies v.GenericSchema<unknown, Record<string, ColumnDefinition>>,
  key: v.array(named),
  watch: v.array(named),
  checks: v.array(rowCheck),
  expectedRecords: v.exactOptional(v.pipe(whole, v.minValue(0))),
};

const declaredColumns = v.record(text, columnOf(v.exactOptional(named))) satisfies v.GenericSchema<
  unknown,
  Record<string, DeclaredColumn>
>;

export const pipelineShape: v.GenericSchema<unknown, DeclaredPipeline> = v.strictObject({
  ...pipeline,
  title: v.exactOptional(named),
  comment: v.exactOptional(named),
  columns: declaredColumns,
  children: v.exactOptional(
    v.record(
      named,
      v.strictObject({
        from: named,
        comment: v.exactOptional(named),
        key: v.exactOptional(v.pipe(v.array(named), v.minLength(1, 'is empty'))),
        columns: declaredColumns,
      }),
    ),
  ),
  watch: v.exactOptional(pipeline.watch),
  checks: v.exactOptional(pipeline.checks),
  ...optionalSettings,
});

const message = v.strictObject({ en: text, id: v.exactOptional(text) });
const name = v.pipe(text, v.regex(/^[a-z][a-z0-9-]*$/, 'is not made of lower-case letters, digits and hyphens'));

const workbook = v.strictObject({
  // What Excel accepts as the name of a sheet.
  title: v.pipe(named, v.maxLength(31), v.regex(/^[^'[\]*?:/\\]+$/, 'is not the name of a sheet')),
  query: named,
  chart: v.pipe(v.array(named), v.minLength(1)),
}) satisfies v.GenericSchema<unknown, ReaderSheet>;

export const projectShape: v.GenericSchema<unknown, ProjectDeclaration> = v.strictObject({
  name,
  title: v.exactOptional(named),
  description: v.exactOptional(named),
  pipelines: v.exactOptional(v.array(pipelineShape)),
  baseUrl: v.exactOptional(v.pipe(text, v.url('is not a URL'))),
  auth: v.exactOptional(auth),
  values: v.exactOptional(
    v.record(
      v.pipe(text, v.regex(/^[a-z]\w*$/, 'is not lower-case snake_case')),
      v.array(v.array(v.union([v.pipe(v.number(), v.finite()), text]))),
    ),
  ),
  examples: v.exactOptional(v.array(named)),
  sample: v.exactOptional(named),
  workbook: v.exactOptional(workbook),
  sampleNotice: v.exactOptional(message),
  ...optionalSettings,
});

export const reportShape = v.array(
  v.strictObject({
    title: named,
    text: v.exactOptional(v.union([named, v.array(named)])),
    query: v.exactOptional(named),
  }),
) satisfies v.GenericSchema<unknown, readonly ReportSection[]>;

const fields = v.array(text);
const sqlFile = v.strictObject({
  name: text,
  sql: text,
  comment: text,
  columns: v.record(text, text),
  message: v.exactOptional(message),
  keys: v.exactOptional(
    v.strictObject({
      primaryKey: fields,
      foreignKeys: v.exactOptional(
        v.array(v.strictObject({ fields, reference: v.strictObject({ resource: text, fields }) })),
      ),
    }),
  ),
  order: v.exactOptional(v.literal('kept')),
  refuse: v.exactOptional(v.literal('new')),
});

export const storedProjectShape = v.strictObject({
  name,
  title: text,
  description: text,
  auth: v.nullable(auth),
  examples: v.array(text),
  pipelines: v.array(v.strictObject({ ...pipeline, ...settings })),
  models: v.array(sqlFile),
  checks: v.array(sqlFile),
  report: v.exactOptional(reportShape),
  workbook: v.exactOptional(workbook),
  sampleNotice: v.exactOptional(message),
}) satisfies v.GenericSchema<unknown, Project>;
