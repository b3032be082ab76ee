/** Lists of names that are made up in memory, for every way of paging: what is requested, what is taken, and what is refused. */

import { extract } from '../../src/extract/extract.ts';
import { PageHolder } from '../../src/extract/page-holder.ts';
import { DatasetPages } from '../../src/extract/pages.ts';
import { KeyOccurrences } from '../../src/extract/prove.ts';
import type { ExtractOptions } from '../../src/extract/extract-options.ts';
import { RekapError } from '../../src/errors.ts';
import { text } from '../../src/project/define.ts';
import type { AnyPipeline, Paging } from '../../src/project/declaration.ts';
import { readText } from '../../src/kinds/read-field.ts';
import type { PageSource } from '../../src/source/source-client.ts';
import type { PageFetcher } from '../../src/source/paging/pass.ts';
import type { Verdict } from '../../src/stages.ts';
import { clientInMemory } from './client-in-memory.ts';
import { manualClock } from '../../src/testing/manual-clock.ts';

/** A page of names. */
export interface GivenPage {
  readonly names: readonly string[];
  /** What stands at /next. */
  readonly next?: unknown;
  /** Other members beside the names. */
  readonly others?: Readonly<Record<string, unknown>>;
  /** What the header `Link` gives as the next page. */
  readonly link?: string;
}

/** Gives the page that is requested, or the status with which it is refused. `turn` says how often the same page was requested before. */
export type Give = (query: URLSearchParams, turn: number) => GivenPage | number;

export interface ListSettings {
  readonly baseUrl?: string;
  readonly pageSize?: number;
  readonly reportedCount?: string;
  readonly maxRecords?: number;
  readonly lookahead?: PageFetcher['lookahead'];
}

/** A pass that has no end fails the test, and does not hang. */
const mostRequests = 500;

function namedList(paging: Paging, { reportedCount }: ListSettings): AnyPipeline {
  return {
    ...(reportedCount !== undefined && { reportedCount }),
    table: 'names',
    title: 'Names',
    comment: 'Names.',
    path: '/list',
    paging,
    format: 'json',
    records: '/items',
    columns: { name: text('name', 'Name.') },
    key: ['name'],
    watch: [],
    checks: [],
  };
}

/**
 * Makes one pass over a list, again if the source needs another page size. `requested` has the requests, also of a pass that fails. Requests
 * that are sent at the same time are one round.
 */
export async function readList(
  paging: Paging,
  give: Give,
  settings: ListSettings & { readonly requested?: string[] } = {},
) {
  const { requested = [], lookahead = { pages: 1, total: null } } = settings;
  const turns = countTurns();
  const pipeline = namedList(paging, settings);
  const options = optionsOf(pipeline, give, requested, settings);
  const client: PageSource = {
    async fetchPage(...request) {
      await turns.next();
      return options.client.fetchPage(...request);
    },
  };
  const pages = new DatasetPages(pipeline, { ...options, client }, new PageHolder(1_000_000));
  let taken: string[] = [];
  let startedOver = -1;
  const pass = { partition: null, isOptional: false, mayBeRefused: true, size: null, isShortened: false, lookahead };
  const [, end] = await pages.readPass(pass, () => {
    startedOver += 1;
    taken = [];
    return {
      keys: new KeyOccurrences(),
      accepted: [],
      add({ page }, first) {
        for (let row = first; row < page.records.length; row += 1) taken.push(readText(page, row, 0)!);
      },
    };
  });
  return { ...end, requested, taken: taken.join(''), startedOver, rounds: turns.count() };
}

/** Lets everybody who waits go on together, and counts how often. */
function countTurns() {
  let turn: Promise<void> | null = null;
  let count = 0;
  return {
    next: (): Promise<void> =>
      (turn ??= new Promise((resolve) =>
        setImmediate(() => {
          turn = null;
          count += 1;
          resolve();
        }),
      )),
    count: () => count,
  };
}

/** Proves a list as a sync does. */
export async function proveList(paging: Paging, give: Give, settings: ListSettings = {}) {
  const requested: string[] = [];
  const pipeline = namedList(paging, settings);
  const verdicts: Verdict[] = [];
  const taken: string[] = [];
  for await (const { verdict, pages } of extract(optionsOf(pipeline, give, requested, settings))) {
    verdicts.push(verdict);
    for (const accepted of pages) {
      const page = await accepted.read();
      accepted.release();
      for (let row = 0; row < page.records.length; row += 1) taken.push(readText(page, row, 0)!);
    }
  }
  return { verdicts, requested, taken: taken.join('') };
}

function optionsOf(
  pipeline: AnyPipeline,
  give: Give,
  requested: string[],
  { baseUrl = 'http://source.test', pageSize = 10, maxRecords = 1000 }: ListSettings,
): ExtractOptions {
  return {
    pipelines: [pipeline],
    client: clientOf(give, requested, baseUrl),
    baseUrl,
    clock: manualClock(),
    report: () => undefined,
    concurrency: 1,
    pageSize,
    scopes: new Map(),
    windows: new Map(),
    before: {},
    expected: {},
    acceptChanges: false,
    contentKey: '0123456789abcdef',
    heldBytes: 1_000_000,
    maxRecords,
    signal: new AbortController().signal,
  };
}

function clientOf(give: Give, requested: string[], baseUrl: string): PageSource {
  let link: string | null = null;
  const client = clientInMemory((_pipeline, { target }) => {
    const turn = requested.filter((before) => before === target).length;
    requested.push(target);
    if (requested.length > mostRequests)
      throw new Error(`${mostRequests} pages were requested, and no end is in sight`);
    const given = give(new URL(target, baseUrl).searchParams, turn);
    if (typeof given === 'number')
      throw new RekapError('source-status', `refused with ${given}`, '', { status: given });
    link = given.link ?? null;
    const items = given.names.map((name) => ({ name }));
    return Buffer.from(JSON.stringify({ items, next: given.next, ...given.others }));
  });
  return {
    async fetchPage(...request) {
      const fetched = await client.fetchPage(...request);
      const { page } = fetched;
      return { ...fetched, page: { ...page, url: `${baseUrl}${page.request.target}` }, link };
    },
  };
}
