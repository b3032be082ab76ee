/** Describes where the declared parts of a response are: its records, its count, its next page and its flag. */

import type { AnyPipeline } from '../../project/declaration.ts';
import { nextPointer, nextRelation, pointerPath } from '../../project/field-path.ts';

export interface DocumentShape {
  readonly format: 'json' | 'ndjson';
  readonly records: string;
  readonly reportedCount?: string | undefined;
  readonly next?: string | undefined;
  /** The relation of the next page, if `next` is a list of links. */
  readonly relation?: string;
  readonly hasMore?: string | undefined;
}

export function shapeOf({ format, records, reportedCount, paging }: AnyPipeline): DocumentShape {
  const next = nextPointer(paging) ?? undefined;
  const relation = nextRelation(paging);
  // Tables are converted to lines first.
  return {
    format: format === 'json' ? 'json' : 'ndjson',
    records,
    reportedCount,
    next,
    ...(relation !== null && { relation }),
    hasMore: paging.hasMore,
  };
}

export type Role = 'records' | 'reportedCount' | 'next' | 'hasMore';

/** Members that lead to a declared place. Elements of an array have their index as their name (RFC 6901). */
export interface Tree {
  role: Role | null;
  readonly members: Map<string, Tree>;
}

export function treeOf(shape: DocumentShape): Tree {
  const root: Tree = { role: null, members: new Map() };
  for (const role of ['records', 'reportedCount', 'next', 'hasMore'] as const) {
    const pointer = shape[role];
    if (pointer === undefined) continue;
    let node = root;
    for (const name of pointerPath(pointer)) {
      const inner = node.members.get(name) ?? { role: null, members: new Map<string, Tree>() };
      node.members.set(name, inner);
      node = inner;
    }
    node.role = role;
  }
  return root;
}

/** Names a place in a message. */
export function nameOf(pointer: string): string {
  return pointer === '' ? 'the response' : `"${pointer.slice(1)}"`;
}
