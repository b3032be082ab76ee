/** Shapes of declarations in project files and in manifests. Unknown properties are errors. */

import * as v from 'valibot';
import type { ColumnDefinition, Paging, Project, ProjectDeclaration } from './declaration.ts';
import type { DeclaredPipeline } from './define.ts';

const text = v.string();
const whole = v.pipe(v.number(), v.safeInteger());
const named = v.pipe(text, v.regex(/\S/, 'is empty'));
const pointer = v.pipe(text, v.regex(/^(?:\/(?:[^~/]|~[01])*)*$/, 'is not a JSON pointer such as /data'));
const parameter = v.pipe(text, v.regex(/^[\w.[\]-]+$/, 'is not the name of a query parameter'));
const urlPath = v.pipe(
  text,
  v.regex(/^(?:\/(?!\.{1,2}(?:\/|$))[\w.~-]+)+\/?$/, 'is not a plain path such as /api/name'),
);

const described = { field: named, comment: named, nullable: v.exactOptional(v.literal(true)) };

const column = v.variant('kind', [
  v.strictObject({ ...described, kind: v.picklist(['text', 'count', 'boolean', 'date']) }),
  v.strictObject({
    ...described,
    kind: v.literal('integer'),
    min: v.exactOptional(whole),
    max: v.exactOptional(whole),
  }),
  v.strictObject({
    ...described,
    kind: v.literal('decimal'),
    precision: v.pipe(whole, v.minValue(1), v.maxValue(38)),
    scale: v.pipe(whole, v.minValue(0), v.maxValue(38)),
  }),
  v.strictObject({
    ...described,
    kind: v.literal('timestamp'),
    offset: v.exactOptional(v.pipe(text, v.regex(/^[+-]\d{2}:\d{2}$/, 'is not an offset such as +07:00'))),
  }),
]);

const check = { name: named, severity: v.picklist(['error', 'warning']) };
const bound = v.exactOptional(v.union([v.pipe(v.number(), v.finite()), named]));

const rowCheck = v.variant('kind', [
  v.strictObject({ ...check, kind: v.literal('sum'), whole: named, parts: v.array(named) }),
  v.strictObject({ ...check, kind: v.literal('range'), column: named, min: bound, max: bound }),
  v.strictObject({ ...check, kind: v.literal('pattern'), column: named, pattern: named }),
  v.strictObject({ ...check, kind: v.literal('reference'), column: named, target: named }),
]);

const size = v.exactOptional(parameter);

const paging = v.variant('by', [
  v.strictObject({ by: v.literal('offset'), limit: parameter, offset: parameter }),
  v.strictObject({ by: v.literal('page'), page: parameter, size, first: v.exactOptional(v.picklist([0, 1])) }),
  v.strictObject({ by: v.literal('next'), url: pointer, size }),
  v.strictObject({ by: v.literal('next'), cursor: pointer, parameter, size }),
  v.strictObject({ by: v.literal('next'), link: v.literal(true), size }),
  v.strictObject({ by: v.literal('none') }),
]) satisfies v.GenericSchema<unknown, Paging>;

const qualified = v.pipe(text, v.regex(/^\w+\.\w+$/, 'does not have the form table.column'));

const partition = v.strictObject({
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
});

const settings = {
  paging,
  format: v.picklist(['json', 'ndjson']),
  records: pointer,
  reportedCount: v.exactOptional(pointer),
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
  parameters: v.exactOptional(v.record(parameter, text)),
  partition: v.exactOptional(partition),
  columns: v.record(text, column) satisfies v.GenericSchema<unknown, Record<string, ColumnDefinition>>,
  key: v.array(named),
  watch: v.array(named),
  checks: v.array(rowCheck),
  expectedRecords: v.exactOptional(v.pipe(whole, v.minValue(0))),
};

export const pipelineShape: v.GenericSchema<unknown, Optional<DeclaredPipeline, 'watch' | 'checks'>> = v.strictObject({
  ...pipeline,
  watch: v.exactOptional(pipeline.watch),
  checks: v.exactOptional(pipeline.checks),
  ...optionalSettings,
});

type Optional<Value, Names extends keyof Value> = Omit<Value, Names> & Partial<Pick<Value, Names>>;

const header = v.pipe(text, v.regex(/^[\w-]+$/, 'is not the name of a header'));
const variable = v.exactOptional(v.pipe(text, v.regex(/^[A-Za-z_]\w*$/, 'is not the name of an environment variable')));

const auth = v.union(
  [
    v.strictObject({ header, variable }),
    v.strictObject({ bearer: v.literal(true), variable }),
    v.strictObject({ basic: v.literal(true), variable }),
    v.strictObject({ query: parameter, variable }),
  ],
  'is not one of { header }, { bearer: true }, { basic: true } and { query }',
);

const name = v.pipe(text, v.regex(/^[a-z][a-z0-9-]*$/, 'is not made of lower-case letters, digits and hyphens'));

export const projectShape: v.GenericSchema<unknown, ProjectDeclaration> = v.strictObject({
  name,
  title: named,
  description: v.exactOptional(named),
  baseUrl: v.exactOptional(v.pipe(text, v.url('is not a URL'))),
  auth: v.exactOptional(auth),
  partitionOption: v.exactOptional(name),
  values: v.exactOptional(
    v.record(
      v.pipe(text, v.regex(/^[a-z]\w*$/, 'is not lower-case snake_case')),
      v.array(v.array(v.union([v.pipe(v.number(), v.finite()), text]))),
    ),
  ),
  examples: v.exactOptional(v.array(named)),
  sample: v.exactOptional(named),
  ...optionalSettings,
  paging: settings.paging,
});

const fields = v.array(text);
const sqlFile = v.strictObject({
  name: text,
  sql: text,
  comment: text,
  columns: v.record(text, text),
  message: v.exactOptional(v.strictObject({ en: text, id: v.exactOptional(text) })),
  keys: v.exactOptional(
    v.strictObject({
      primaryKey: fields,
      foreignKeys: v.exactOptional(
        v.array(v.strictObject({ fields, reference: v.strictObject({ resource: text, fields }) })),
      ),
    }),
  ),
});

export const storedProjectShape = v.strictObject({
  name,
  title: text,
  description: text,
  auth: v.nullable(auth),
  partitionOption: name,
  examples: v.array(text),
  pipelines: v.array(v.strictObject({ ...pipeline, ...settings })),
  models: v.array(sqlFile),
  checks: v.array(sqlFile),
}) satisfies v.GenericSchema<unknown, Project>;

interface ShapeProblem {
  readonly where: readonly string[];
  readonly what: string;
}

export function findShapeProblems(shape: v.GenericSchema, value: unknown): ShapeProblem[] {
  return (v.safeParse(shape, value, { abortPipeEarly: true }).issues ?? []).map(explain);
}

function explain(found: v.BaseIssue<unknown>): ShapeProblem {
  const issue = deepest(found);
  const where = (issue.path ?? []).map(({ key }) => String(key));
  if (issue.type === 'strict_object' && issue.expected === 'never')
    return { where, what: `has the unknown property "${where.at(-1)}"` };
  if (issue.received === 'undefined') return { where, what: 'is missing' };
  const what = /^(Invalid|Expected)/.test(issue.message)
    ? `is ${issue.received}, not ${issue.expected}`
    : issue.message;
  return { where, what };
}

/** Returns the issue of the closest option of a union. */
function deepest(issue: v.BaseIssue<unknown>): v.BaseIssue<unknown> {
  if (!issue.message.startsWith('Invalid')) return issue;
  const inner = issue.issues?.toSorted((a, b) => (b.path?.length ?? 0) - (a.path?.length ?? 0))[0];
  if (inner === undefined) return issue;
  const path = [...(issue.path ?? []), ...(inner.path ?? [])] as unknown as NonNullable<typeof inner.path>;
  return deepest({ ...inner, path: path.length > 0 ? path : undefined });
}
