/** Defines the files of a landing and their shapes. They are checked when they are read. */

import * as v from 'valibot';
import type { Project } from '../project/declaration.ts';
import { storedProjectShape } from '../project/shapes.ts';
import { scopeShape, verdictShape } from '../stages.ts';
import { snapshotIdShape } from '../warehouse/snapshot-format.ts';

export const runFile = 'run.json';
/** Consecutive gzip members, which `zcat` reads as one file. */
export const bodiesFile = 'bodies.gz';
/** One line per response, with its position in bodies.gz. Line n, from 0, is response n in verdicts.jsonl. */
export const responsesFile = 'responses.jsonl';
/** Result of each partition, with its accepted records. The last line shows that the run read everything. */
export const verdictsFile = 'verdicts.jsonl';

const text = v.string();
const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const time = v.pipe(text, v.isoTimestamp());
const url = v.pipe(
  text,
  v.check((given) => /^https?:/.test(given) && URL.canParse(given)),
);
const setOf = <Item extends v.GenericSchema>(item: Item) =>
  v.pipe(
    v.array(item),
    v.minLength(1),
    v.check((items) => new Set(items).size === items.length),
  );

/** run.json: settings of a run, and what it knew before its first request. */
export const runFileShape = v.object({
  format: v.literal(3),
  run: snapshotIdShape,
  started_at: time,
  tool: v.object({ name: v.literal('rekap'), version: text }),
  source: text,
  base_url: url,
  /** The previous snapshot, and the SHA-256 of its history of changes. */
  previous: v.nullable(snapshotIdShape),
  previous_history: v.nullable(text),
  strict: v.boolean(),
  refuse: v.optional(v.nullable(v.literal('new-errors'))),
  accept_changes: v.boolean(),
  accept_source: v.boolean(),
  dry_run: v.boolean(),
  datasets: setOf(text),
  partitions: v.nullable(setOf(text)),
  /** What the run read of each dataset. A dataset that is missing was read whole. */
  scopes: v.optional(v.record(text, scopeShape)),
  page_size: v.pipe(count, v.minValue(1)),
  project: storedProjectShape,
});
export type RunFile = Readonly<Omit<v.InferOutput<typeof runFileShape>, 'project'>> & { readonly project: Project };

export const landedResponseShape = v.object({
  dataset: text,
  partition: v.nullable(text),
  url: text,
  at: time,
  status: count,
  /** Length and SHA-256 of the body, decoded from any content encoding. */
  bytes: count,
  sha256: text,
  position: count,
  length: count,
});
export type LandedResponse = Readonly<v.InferOutput<typeof landedResponseShape>>;

/** A line of verdicts.jsonl. Each accepted page is [response, first record, number of records]. */
export const landedVerdictShape = v.object({
  ...verdictShape.entries,
  read_at: time,
  accepted: v.array(v.strictTuple([count, count, count])),
});

/** The last line of verdicts.jsonl: the number of lines before it, and the warnings of the run. */
export const lastLineShape = v.object({ verdicts: count, warnings: v.array(text) });
