/** Reads a manifest from JSON. */

import * as v from 'valibot';
import { findProblems } from '../project/validate.ts';
import { type Manifest, manifestShape } from './snapshot-format.ts';

/** `why` is the rest of a sentence that begins with the file. */
export type ReadManifest = { readonly manifest: Manifest } | { readonly why: string };

/**
 * Checks a manifest and its declaration, which may come from an untrusted source.
 * @param id ID of the snapshot that it must describe.
 */
export function readManifest(value: unknown, id: string): ReadManifest {
  const other = otherFormat(value, manifestShape.entries.format.literal);
  if (other !== null) return { why: other };
  if (!v.is(manifestShape, value) || value.snapshot !== id) return { why: `is not a manifest of snapshot ${id}` };
  const [problem] = findProblems(value.project);
  return problem === undefined ? { manifest: value } : { why: `has an inconsistent declaration: ${problem.what}` };
}

/** Returns why a file with another format isn't read, as the rest of a sentence; null if the format is right or missing. */
export function otherFormat(value: unknown, expected: number): string | null {
  const format = typeof value === 'object' && value !== null && 'format' in value ? value.format : null;
  if (typeof format !== 'number' || format === expected) return null;
  return `has format ${format}, but this release of rekap reads only format ${expected}. Use the release that wrote it`;
}
