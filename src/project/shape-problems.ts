/** Explains how a declaration differs from its shape, with the names that it can have. */

import * as v from 'valibot';
import { withSuggestion } from '../runtime/closest-name.ts';

interface ShapeProblem {
  readonly where: readonly string[];
  readonly what: string;
  /** The table of the pipeline at that place; null if it has none. */
  readonly of: string | null;
}

export function findShapeProblems(shape: v.GenericSchema, value: unknown): ShapeProblem[] {
  const { issues = [] } = v.safeParse(shape, value, { abortPipeEarly: true, message: describe });
  return issues.map((found) => {
    const issue = deepest(found);
    const where = (issue.path ?? []).map(({ key }) => String(key));
    const isUnknown = issue.type === 'strict_object' && issue.expected === 'never';
    return { where, what: isUnknown ? describeUnknown(shape, where) : issue.message, of: tableAt(value, where) };
  });
}

function tableAt(value: unknown, [name, place = '']: readonly string[]): string | null {
  const declared = value as { readonly pipelines?: readonly unknown[] } | null | undefined;
  const pipeline = name === 'pipelines' ? declared?.pipelines?.[Number(place)] : declared;
  const table = (pipeline as { readonly table?: unknown } | null | undefined)?.table;
  return typeof table === 'string' ? table : null;
}

function describeUnknown(shape: v.GenericSchema, where: readonly string[]): string {
  const [parent, name] = [where.slice(0, -1), where.at(-1)!];
  if (propertiesAt(shape, [...parent, 'paging']).includes(name))
    return 'is not a known property here; it belongs into paging';
  return withSuggestion('is not a known property', name, propertiesAt(shape, parent));
}

const names: Readonly<Record<string, string>> = {
  string: 'a text',
  Object: 'an object',
  Array: 'an array',
  number: 'a number',
};

/** Describes an issue of a shape that has no message of its own. */
function describe({ type, expected, received, input }: v.BaseIssue<unknown>): string {
  if (type === 'strict_object') return 'is missing';
  const anyNumber = type === 'safe_integer' ? 'a whole number' : 'a finite number';
  const allowed = (expected ?? anyNumber).replaceAll(/[()]/g, '').split(' | ');
  const must = `must be ${allowed.map((one) => names[one] ?? one).join(' or ')}`;
  if (received === 'undefined') return `is missing; it ${must}`;
  const what = `is ${received}, but ${must}`;
  const texts = allowed.filter((one) => one.startsWith('"')).map((one) => one.slice(1, -1));
  return typeof input === 'string' ? withSuggestion(what, input, texts) : what;
}

/** Returns the names of all properties that an object at this place can have. */
function propertiesAt(shape: unknown, where: readonly string[]): string[] {
  const { wrapped, options, pipe, entries, value, item } = shape as {
    readonly wrapped?: unknown;
    readonly options?: readonly unknown[];
    readonly pipe?: readonly unknown[];
    readonly entries?: Readonly<Record<string, unknown>>;
    readonly value?: unknown;
    readonly item?: unknown;
  };
  const inner = wrapped ?? pipe?.[0];
  if (inner !== undefined) return propertiesAt(inner, where);
  if (options !== undefined) return [...new Set(options.flatMap((option) => propertiesAt(option, where)))];
  const [first, ...rest] = where;
  if (first === undefined) return Object.keys(entries ?? {});
  const next = entries?.[first] ?? value ?? item;
  return typeof next === 'object' ? propertiesAt(next, rest) : [];
}

/** Returns the issue of the option that fits best, for a union without its own message. */
function deepest(issue: v.BaseIssue<unknown>): v.BaseIssue<unknown> {
  const inner = issue.issues?.toSorted((a, b) => (b.path?.length ?? 0) - (a.path?.length ?? 0))[0];
  if (inner?.path === undefined || issue.message !== describe(issue)) return issue;
  const path = [...(issue.path ?? []), ...inner.path] as unknown as typeof inner.path;
  return deepest({ ...inner, path });
}
