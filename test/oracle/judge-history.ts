/**
 * Judges the log of a warehouse's life when all is over: what was done to it, and what its readers saw meanwhile. Nothing here opens a
 * file, so the judge itself can be tried with forged logs.
 */

/** A sync, rollback or replay. One begins when the one before has ended; times are those of one clock. */
export interface Act {
  readonly kind: 'sync' | 'rollback' | 'replay';
  readonly began: number;
  readonly ended: number;
  /** Killed on the way: it may have switched `current`, or not. */
  readonly died: boolean;
  /** The version that the source gave at that time. */
  readonly version: number;
  /** The snapshot of a requested rollback, otherwise null. */
  readonly wanted: string | null;
  /** Afterwards: the snapshot that is current, and the hash of its manifest. */
  readonly current: string | null;
  readonly hash: string | null;
}

/** What one reader saw when it opened `current` once. */
export interface Look {
  readonly reader: string;
  readonly began: number;
  readonly ended: number;
  /** Why it could not read; all that follows is empty then. */
  readonly failure: string | null;
  /** The snapshot by the link, by the manifest, and by the table snapshots_log. */
  readonly ids: readonly string[];
  /** Of the manifest. */
  readonly hash: string;
  /** Every figure of one column, by the place where it was read; in a whole snapshot all of them are its version. */
  readonly figures: Readonly<Record<string, readonly number[]>>;
}

export interface History {
  readonly acts: readonly Act[];
  readonly looks: readonly Look[];
  /** Ids that runs.jsonl says were published. */
  readonly published: ReadonlySet<string>;
  /** Figures that each place must hold. */
  readonly rows: number;
}

/** What was current from one act on. */
interface State {
  readonly began: number;
  readonly ended: number;
  readonly current: string | null;
  readonly hash: string | null;
}

/** Everything in the log that a warehouse must never show, as sentences. */
export function judgeHistory({ acts, looks, published, rows }: History): string[] {
  const problems: string[] = [];
  const versions = judgeActs(acts, published, (problem) => problems.push(problem));
  const whole = looks.filter((look) => {
    const found = judgeLook(look, versions, rows);
    problems.push(...found.map((what) => `${nameOf(look)} ${what}`));
    return found.length === 0;
  });
  return [...problems, ...judgeOrder(acts, whole)];
}

/** Whether each act left what it should; gives the version of each snapshot. */
function judgeActs(
  acts: readonly Act[],
  published: ReadonlySet<string>,
  complain: (problem: string) => void,
): Map<string, number> {
  const versions = new Map<string, number>();
  let before: string | null = null;
  for (const [index, { kind, died, version, wanted, current }] of acts.entries()) {
    const name = `act ${index + 1}, a ${kind},`;
    if (current === null) {
      if (before !== null || !died) complain(`${name} left no current snapshot`);
      continue;
    }
    if (!versions.has(current)) {
      versions.set(current, version);
      if (kind !== 'sync') complain(`${name} made ${current} current, which no sync made`);
      else if (!died && !published.has(current)) complain(`${name} made ${current}, which runs.jsonl does not name`);
    } else if (died && current !== before) complain(`${name} died and made the earlier ${current} current`);
    if (kind === 'sync' && !died && versions.get(current) !== version)
      complain(`${name} finished at version ${version} and left version ${versions.get(current)}`);
    if (kind === 'rollback' && current !== wanted)
      complain(`${name} was to make ${wanted} current and left ${current}`);
    before = current;
  }
  return versions;
}

/** Whether a look by itself shows one whole snapshot that there was. */
function judgeLook({ failure, ids, figures }: Look, versions: ReadonlyMap<string, number>, rows: number): string[] {
  if (failure !== null) return [`failed: ${failure}`];
  const [id = '', ...others] = new Set(ids);
  if (others.length > 0) return [`mixed the snapshots ${[id, ...others].join(' and ')}`];
  const version = versions.get(id);
  if (version === undefined) return [`showed ${id}, which was never current`];
  return Object.entries(figures).flatMap(([place, found]) => {
    if (found.length !== rows) return [`found ${found.length} figures in ${place}, not ${rows}`];
    const torn = [...new Set(found)].filter((figure) => figure !== version);
    return torn.length === 0 ? [] : [`found version ${torn.join(' and ')} in ${place} of ${id}, not ${version}`];
  });
}

/**
 * Whether all looks fit into one order of time: each sees what is current at some moment between its begin and its end, and none sees an
 * earlier state than a look that had ended before it began. Each look gets the earliest state that fits, which leaves most to the others.
 */
function judgeOrder(acts: readonly Act[], looks: readonly Look[]): string[] {
  const beginning: State = { began: -Infinity, ended: -Infinity, current: null, hash: null };
  const states = [beginning, ...acts];
  const seen: { readonly ended: number; readonly state: number }[] = [];
  const problems: string[] = [];
  for (const look of looks.toSorted((a, b) => a.began - b.began)) {
    const finished = states.findLastIndex(({ ended }) => ended <= look.began);
    const known = seen.reduce(
      (latest, { ended, state }) => (ended <= look.began ? Math.max(latest, state) : latest),
      0,
    );
    const state = states.findIndex(
      ({ began, current, hash }, index) =>
        index >= Math.max(finished, known) && began < look.ended && current === look.ids[0] && hash === look.hash,
    );
    if (state >= 0) seen.push({ ended: look.ended, state });
    else if (known > finished) problems.push(`${nameOf(look)} went back to ${look.ids[0]} behind what was seen before`);
    else problems.push(`${nameOf(look)} showed ${look.ids[0]}, or a manifest of it, that was not current then`);
  }
  return problems;
}

function nameOf({ reader, began }: Look): string {
  return `reader ${reader} at ${Math.round(began)} ms`;
}
