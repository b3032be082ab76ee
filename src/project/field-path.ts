/** Resolves the fields that declarations name: a member of the record, or a JSON pointer such as `/actor/login` to a member of an inner object. */

import type { AnyPipeline, ColumnDefinition, Paging } from './declaration.ts';

/** Returns the comment of a column that declares none. */
export function commentOn(field: string): string {
  return `Field ${field} of the source.`;
}

export function fieldPath(field: string): string[] {
  return field.startsWith('/') ? pointerPath(field) : [field];
}

/** Returns the field in which a sample or a mirror has the name of a record; undefined if no column reads it. */
export function nameField({ columns }: Pick<AnyPipeline, 'columns'>): string | undefined {
  return Object.values(columns).find((column) => isFrom(column, 'name'))?.field;
}

/** Returns whether a column has the name of the record, or the value of the request, instead of a field. */
export function isFrom(column: ColumnDefinition | undefined, place: 'name' | 'request'): boolean {
  return (column?.kind === 'text' || column?.kind === 'integer') && column.from === place;
}

/** Returns whether no field of the record has the value of the column. */
export function isBeside(column: ColumnDefinition): boolean {
  return isFrom(column, 'name') || isFrom(column, 'request');
}

/** Returns the name of the column with the field of the paging `after`; undefined if no text or integer column reads it. */
export function afterColumn({ paging, columns }: Pick<AnyPipeline, 'paging' | 'columns'>): string | undefined {
  if (paging.by !== 'after') return undefined;
  const path = fieldPath(paging.field).join('/');
  const found = Object.entries(columns).find(([, { field }]) => fieldPath(field).join('/') === path);
  return found !== undefined && ['text', 'integer', 'count'].includes(found[1].kind) ? found[0] : undefined;
}

export function escapePointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Returns the member names of a JSON pointer (RFC 6901); none for '', which is the whole document. */
export function pointerPath(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Returns the JSON pointer to the next page, or to the list of links; null if the paging has none. */
export function nextPointer(paging: Paging): string | null {
  if (paging.by !== 'next' || headerOf(paging) !== null) return null;
  const place = 'url' in paging ? paging.url : 'cursor' in paging ? paging.cursor : '';
  return typeof place === 'string' ? place : 'in' in place ? place.in : null;
}

/** Returns the relation of the link to the next page in a list of links; null for other kinds of paging. */
export function nextRelation(paging: Paging): string | null {
  return paging.by === 'next' && 'url' in paging && typeof paging.url !== 'string' ? paging.url.rel : null;
}

/** Returns the name of the header that names the next page, in lower case; null if none does. */
export function headerOf(paging: Paging): string | null {
  if (paging.by !== 'next') return null;
  if ('link' in paging) return 'link';
  return 'cursor' in paging && typeof paging.cursor !== 'string' ? paging.cursor.header.toLowerCase() : null;
}

/** Returns the value at a JSON pointer, where an array has its indexes as names; undefined if it is missing. */
export function readPointer(document: unknown, pointer: string): unknown {
  return readPath(document, pointerPath(pointer));
}

export function readField(record: unknown, field: string): unknown {
  return readPath(record, fieldPath(field));
}

function readPath(document: unknown, path: readonly string[]): unknown {
  let value = document;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    if (Array.isArray(value) && !/^\d+$/.test(name)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return value;
}

/** Sets the member at a path. Inner objects that are missing are added. */
export function writeMember(document: object, path: readonly string[], value: unknown): void {
  let place = document as Record<string, unknown>;
  for (const name of path.slice(0, -1)) {
    const inner = Object.hasOwn(place, name) ? place[name] : undefined;
    place = typeof inner === 'object' && inner !== null ? (inner as Record<string, unknown>) : define(place, name, {});
  }
  define(place, path.at(-1)!, value);
}

/** Defines a member by any name, also by `__proto__`. */
function define<Value>(object: object, name: string, value: Value): Value {
  Object.defineProperty(object, name, { value, enumerable: true, writable: true, configurable: true });
  return value;
}
