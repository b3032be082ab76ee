/** A source in memory that pages as badly as it is told to, for driving extraction through thousands of services. */

import type { PageSource } from '../../src/source/source-client.ts';
import { RekapError } from '../../src/errors.ts';
import type { PageRequest } from '../../src/stages.ts';

import { voters } from './bundled.ts';
import { type PageParameters, parametersOf } from './page-request.ts';
import { clientInMemory, orNothingThere } from './client-in-memory.ts';

/** A record as extraction sees it: its partition, its name, and a value that may be restated. */
export interface SimulatedRecord {
  readonly partition: number;
  readonly regency: string;
  readonly people: number;
}

/** How the source behaves; everything false or null is a source without fault. */
export interface Behaviour {
  /** Most records that an answer holds, whatever `limit` asks for. */
  readonly cap: number;
  /** The same of a partition's own pages; null where it is the same. */
  readonly filterCap: number | null;
  /** Every answer holds as many records as may be, whatever `limit` asks for. */
  readonly ignoresLimit: boolean;
  /** A partition that the unfiltered list hides; null for none. */
  readonly hides: number | null;
  /** `count` says how many records there are, not how many the answer holds. */
  readonly countIsTotal: boolean;
  readonly shape: 'array' | 'map' | 'single';
  /** 'steady' keeps one order that mixes the partitions; 'restless' shuffles for every answer. */
  readonly order: 'by partition' | 'steady' | 'restless';
  readonly listing: 'whole' | 'refused' | 'empty';
  /** The unfiltered list shows only so many records; null for all. */
  readonly listingWindow: number | null;
  readonly ignoresOffset: boolean;
  readonly ignoresPartition: boolean;
  /** From 0 to 1: how often an answer is shorter than it need be. */
  readonly shortPages: number;
  /** The source never ends: beyond its records it makes up new ones. */
  readonly endless: boolean;
  /** At this request, the source becomes `after`; null for never. */
  readonly changesAt: number | null;
  readonly after: readonly SimulatedRecord[];
  readonly unknownPartition: 'nothing' | 404;
  /** What is given behind a list's last record, and where an answer is empty for a moment. */
  readonly pastEnd: 'nothing' | 404;
  /** No query gives more than so many records, though `count` counts them all; null for all. */
  readonly window: number | null;
  /** A partition's records beyond its first page are never given. */
  readonly stuckFilter: boolean;
  /** A page at this offset repeats the record before it and passes over its own first one; null for none. */
  readonly slipAt: number | null;
  /** From 0 to 1: how often an answer is empty for a moment, never twice in a row at the same place. */
  readonly emptyAnswers: number;
}

export const faultless: Behaviour = {
  cap: 1000,
  filterCap: null,
  ignoresLimit: false,
  hides: null,
  countIsTotal: false,
  shape: 'array',
  order: 'by partition',
  listing: 'whole',
  listingWindow: null,
  ignoresOffset: false,
  ignoresPartition: false,
  shortPages: 0,
  endless: false,
  changesAt: null,
  after: [],
  unknownPartition: 'nothing',
  pastEnd: 'nothing',
  window: null,
  stuckFilter: false,
  slipAt: null,
  emptyAnswers: 0,
};

/** So many requests are more than any honest extraction over these small sources needs. */
const requestBound = 5000;

export interface SimulatedSource extends PageSource {
  readonly requests: PageRequest[];
}

/** @param random Numbers from 0 up to 1, for what the behaviour leaves to chance. */
export function simulateSource(
  records: readonly SimulatedRecord[],
  behaviour: Behaviour,
  random: () => number,
): SimulatedSource {
  const requests: PageRequest[] = [];
  const steadyOrder = new Map<string, number>();
  const emptied = new Set<string>();

  function answer(requested: PageRequest): string {
    const request = parametersOf(requested);
    const hasChanged = behaviour.changesAt !== null && requests.length > behaviour.changesAt;
    let list = [...(hasChanged ? behaviour.after : records)];
    if (request.partition === null) {
      if (behaviour.listing === 'refused')
        throw new RekapError('source-status', 'id_dapil is required', '', { status: 400 });
      if (behaviour.listing === 'empty') list = [];
    } else if (!behaviour.ignoresPartition)
      list = list.filter(({ partition }) => String(partition) === request.partition);
    if (request.partition !== null && list.length === 0 && behaviour.unknownPartition === 404)
      throw new RekapError('source-status', 'no such partition', '', { status: 404 });
    list = inOrder(list);
    if (request.partition === null) list = list.filter(({ partition }) => partition !== behaviour.hides);
    if (request.partition === null && behaviour.listingWindow !== null) list = list.slice(0, behaviour.listingWindow);
    const offset = behaviour.ignoresOffset ? 0 : request.offset;
    const cap = request.partition === null ? behaviour.cap : (behaviour.filterCap ?? behaviour.cap);
    let length = behaviour.ignoresLimit ? cap : Math.min(request.limit, cap);
    if (length > 1 && random() < behaviour.shortPages) length = 1 + Math.floor(random() * (length - 1));
    const given = list.slice(0, behaviour.window ?? undefined);
    let page = given.slice(offset, offset + length);
    if (page.length > 0 && offset === behaviour.slipAt) page = [...given.slice(offset - 1, offset), ...page.slice(1)];
    if (offset > 0 && request.partition !== null && behaviour.stuckFilter) page = [];
    if (isEmptied(request)) page = [];
    if (behaviour.endless && page.length === 0) {
      page.push({
        partition: Number(request.partition ?? records[0]?.partition ?? 1),
        regency: `MADE UP ${requests.length}`,
        people: 1,
      });
    }
    if (page.length === 0 && request.offset > 0 && behaviour.pastEnd === 404)
      throw new RekapError('source-status', 'nothing there', '', { status: 404 });
    return envelope(page, list.length);
  }

  function isEmptied({ partition, offset }: PageParameters): boolean {
    const place = `${partition} ${offset}`;
    if (random() >= behaviour.emptyAnswers || emptied.delete(place)) return false;
    emptied.add(place);
    return true;
  }

  function inOrder(list: SimulatedRecord[]): SimulatedRecord[] {
    if (behaviour.order === 'by partition') return list.toSorted((a, b) => a.partition - b.partition);
    const rank = (record: SimulatedRecord): number => {
      if (behaviour.order === 'restless') return random();
      const key = JSON.stringify(record);
      if (!steadyOrder.has(key)) steadyOrder.set(key, random());
      return steadyOrder.get(key)!;
    };
    return list
      .map((record) => ({ record, rank: rank(record) }))
      .toSorted((a, b) => a.rank - b.rank)
      .map(({ record }) => record);
  }

  function envelope(page: readonly SimulatedRecord[], total: number): string {
    const sent = page.map(asSent);
    const count = behaviour.countIsTotal ? Math.max(total, sent.length) : sent.length;
    if (sent.length === 0)
      return behaviour.shape === 'array' ? JSON.stringify({ count, data: [] }) : '{"count":0,"data":null}';
    if (behaviour.shape === 'map')
      return JSON.stringify({ count, data: Object.fromEntries(sent.map((record, index) => [index, record])) });
    return JSON.stringify({ count, data: behaviour.shape === 'single' && sent.length === 1 ? sent[0] : sent });
  }

  return {
    requests,
    ...clientInMemory(async (_pipeline, request) => {
      requests.push(request);
      if (requests.length > requestBound) throw new Error('extraction does not come to an end');
      // Answers arrive in another order than they were requested.
      if (random() < 0.3) await Promise.resolve();
      return Buffer.from(answer(request));
    }),
  };
}

const noFigures = Object.fromEntries(Object.values(voters.columns).map(({ field }) => [field, '0']));

export function asSent({ partition, regency, people }: SimulatedRecord): Record<string, string> {
  return {
    ...noFigures,
    TahunPemilu: '2024',
    JenisPemilu: 'DPR-RI',
    IdDapil: String(partition),
    NamaDapil: `DAPIL ${partition}`,
    NamaProvinsi: 'PROVINSI',
    NamaKabupaten: regency,
    JumlahSeluruhPemilih: String(people),
  };
}

/** A source whose requests pass through `change`, which may ask for something else or throw. */
export function changed(
  source: SimulatedSource,
  change: (request: Parameters<PageSource['fetchPage']>[1]) => Parameters<PageSource['fetchPage']>[1],
): SimulatedSource {
  const plain = source.fetchPage.bind(source);
  return {
    ...source,
    fetchPage: (pipeline, request) => orNothingThere(request, async () => plain(pipeline, change(request))),
  };
}
