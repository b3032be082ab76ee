/** Shapes of declarations in project files and in manifests. Unknown properties are errors. */

import * as v from 'valibot';
import { severities } from '../stages.ts';
import { readDuration } from './duration.ts';
import type {
  ColumnDefinition,
  DeclaredColumn,
  DeclaredPipeline,
  Paging,
  Project,
  ProjectDeclaration,
  ReaderSheet,
  ReportSection,
} from './declaration.ts';

const text = v.string();
const whole = v.pipe(v.number(), v.safeInteger());
const named = v.pipe(text, v.regex(/\S/, 'is empty'));
const pointer = v.pipe(text, v.regex(/^(?:\/(?:[^~/]|~[01])*)*$/, 'is not a JSON pointer such as /data'));
const parameter = v.pipe(
  text,
  v.regex(/^(?:[\w.$[\]:@-]+|(?:\/(?:[^~/]|~[01])+)+)$/, 'is neither the name of a query parameter nor a JSON pointer'),
);
const header = v.pipe(text, v.regex(/^[\w-]+$/, 'is not the name of a header'));
const variableName = v.pipe(text, v.regex(/^[A-Za-z_]\w*$/, 'is not the name of an environment variable'));
const headerValue = v.pipe(text, v.regex(/^[\x20-\x7e]*$/, 'is not the value of a header'));
const urlPath = v.pipe(
  text,
  v.regex(
    /^(?:\/(?!\.{1,2}(?:\/|$))(?:[\w.~-]|\{[\w.-]+\})+)+\/?$/,
    'is not a plain path such as /api/name or /items/{id}',
  ),
);

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

const size = v.exactOptional(parameter);
const ignored = v.pipe(
  text,
  v.regex(/^(?:[\w-]+|(?:\/(?:[^~/]|~[01])*)+)$/, 'is neither a JSON pointer nor the name of a header'),
);
const anyPaging = { hasMore: v.exactOptional(pointer), ignores: v.exactOptional(v.array(ignored)) };

const origin = v.pipe(text, v.regex(/^https?:\/\/[^/\s?#@]+$/, 'is not an origin such as https://cdn.example'));
const first = v.exactOptional(v.picklist([0, 1]));
const link = v.strictObject({ rel: named, in: pointer });
const allow = v.exactOptional(v.array(v.union([origin, v.strictObject({ origin, withKey: v.literal(true) })])));

const paging = v.variant('by', [
  v.strictObject({ by: v.literal('offset'), limit: parameter, offset: parameter, first, ...anyPaging }),
  v.strictObject({ by: v.literal('after'), field: named, parameter, size, ...anyPaging }),
  v.strictObject({
    by: v.literal('page'),
    page: parameter,
    size,
    first,
    step: v.exactOptional(v.literal('size')),
    ...anyPaging,
  }),
  v.strictObject({ by: v.literal('next'), url: v.union([pointer, link]), size, allow, ...anyPaging }),
  v.strictObject({
    by: v.literal('next'),
    cursor: v.union([pointer, v.strictObject({ header })]),
    parameter,
    size,
    allow,
    ...anyPaging,
  }),
  v.strictObject({ by: v.literal('next'), link: v.literal(true), size, allow, ...anyPaging }),
  v.strictObject({ by: v.literal('none'), ...anyPaging }),
]) satisfies v.GenericSchema<unknown, Paging>;

const qualified = v.pipe(text, v.regex(/^\w+\.\w+$/, 'does not have the form table.column'));

const partitionParameter = {
  parameter,
  column: named,
  values: v.exactOptional(
    v.variant('from', [
      v.strictObject({ from: v.literal('list'), values: v.array(named) }),
      v.strictObject({ from: v.literal('file'), file: named, field: named }),
      v.strictObject({
        from: v.literal('endpoint'),
        path: urlPath,
        field: named,
        records: v.exactOptional(pointer),
        paging: v.exactOptional(paging),
      }),
      v.strictObject({ from: v.literal('pipeline'), column: qualified }),
    ]),
  ),
};

const duration = v.pipe(
  text,
  v.check((given) => readDuration(given) !== null, 'is not a duration such as PT1H or P7D'),
);

const incremental = v.strictObject({
  cursor: named,
  parameter: v.exactOptional(parameter),
  lookback: v.exactOptional(duration),
  wholeEvery: duration,
});

const partition = v.strictObject({
  ...partitionParameter,
  name: v.exactOptional(named),
  and: v.exactOptional(v.pipe(v.array(v.strictObject(partitionParameter)), v.minLength(1, 'is empty'))),
  closed: v.exactOptional(v.strictObject({ after: duration, column: named })),
});

const settings = {
  paging,
  format: v.picklist(['json', 'ndjson', 'csv', 'rows']),
  delimiter: v.exactOptional(v.picklist([',', ';', '\t', '|'])),
  records: pointer,
  reportedCount: v.exactOptional(pointer),
  headers: v.exactOptional(v.record(header, v.union([headerValue, v.strictObject({ variable: variableName })]))),
};
const optionalSettings = {
  ...settings,
  paging: v.exactOptional(settings.paging),
  format: v.exactOptional(settings.format),
  records: v.exactOptional(settings.records),
};

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

const variable = v.exactOptional(variableName);

// A secret must not be sent in plain text.
const tokenUrl = v.pipe(
  text,
  v.regex(/^(?:https:\/\/[^\s@#]+|http:\/\/(?:127\.0\.0\.1|localhost)(?::\d+)?\/[^\s@#]*)$/, 'is not an https URL'),
);

const auth = v.union(
  [
    v.strictObject({ header, prefix: v.exactOptional(headerValue), variable }),
    v.strictObject({ bearer: v.literal(true), variable }),
    v.strictObject({ basic: v.literal(true), variable }),
    v.strictObject({ query: parameter, variable }),
    v.strictObject({
      oauth2: v.strictObject({ tokenUrl, scope: v.exactOptional(named), audience: v.exactOptional(named) }),
      variable,
    }),
  ],
  'is not one of { header }, { bearer: true }, { basic: true }, { query } and { oauth2 }',
);

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
