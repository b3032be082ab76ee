/** Shapes of what a declaration says about its source: requests, paging, partitions and keys. Unknown properties are errors. */

import * as v from 'valibot';
import { readDuration } from './duration.ts';
import type { Paging } from './source-declaration.ts';

export const text = v.string();
export const whole = v.pipe(v.number(), v.safeInteger());
export const named = v.pipe(text, v.regex(/\S/, 'is empty'));
const pointer = v.pipe(text, v.regex(/^(?:\/(?:[^~/]|~[01])*)*$/, 'is not a JSON pointer such as /data'));
export const parameter = v.pipe(
  text,
  v.regex(/^(?:[\w.$[\]:@-]+|(?:\/(?:[^~/]|~[01])+)+)$/, 'is neither the name of a query parameter nor a JSON pointer'),
);
const header = v.pipe(text, v.regex(/^[\w-]+$/, 'is not the name of a header'));
const variableName = v.pipe(text, v.regex(/^[A-Za-z_]\w*$/, 'is not the name of an environment variable'));
const headerValue = v.pipe(text, v.regex(/^[\x20-\x7e]*$/, 'is not the value of a header'));
export const urlPath = v.pipe(
  text,
  v.regex(
    /^(?:\/(?!\.{1,2}(?:\/|$))(?:[\w.~-]|\{[\w.-]+\})+)+\/?$/,
    'is not a plain path such as /api/name or /items/{id}',
  ),
);

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

export const incremental = v.strictObject({
  cursor: named,
  parameter: v.exactOptional(parameter),
  lookback: v.exactOptional(duration),
  wholeEvery: duration,
});

export const partition = v.strictObject({
  ...partitionParameter,
  name: v.exactOptional(named),
  and: v.exactOptional(v.pipe(v.array(v.strictObject(partitionParameter)), v.minLength(1, 'is empty'))),
  closed: v.exactOptional(v.strictObject({ after: duration, column: named })),
});

export const settings = {
  paging,
  format: v.picklist(['json', 'ndjson', 'csv', 'rows']),
  delimiter: v.exactOptional(v.picklist([',', ';', '\t', '|'])),
  records: pointer,
  reportedCount: v.exactOptional(pointer),
  headers: v.exactOptional(v.record(header, v.union([headerValue, v.strictObject({ variable: variableName })]))),
};
export const optionalSettings = {
  ...settings,
  paging: v.exactOptional(settings.paging),
  format: v.exactOptional(settings.format),
  records: v.exactOptional(settings.records),
};

const variable = v.exactOptional(variableName);

// A secret must not be sent in plain text.
const tokenUrl = v.pipe(
  text,
  v.regex(/^(?:https:\/\/[^\s@#]+|http:\/\/(?:127\.0\.0\.1|localhost)(?::\d+)?\/[^\s@#]*)$/, 'is not an https URL'),
);

export const auth = v.union(
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
