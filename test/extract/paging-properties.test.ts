/**
 * Whatever a service does at the end of a page, and whatever is wrong with its declaration, an extraction returns the whole list, or refuses.
 * It never returns a part of the list.
 */

import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { RekapError } from '../../src/errors.ts';
import type { Paging } from '../../src/project/declaration.ts';
import { nextPointer } from '../../src/project/field-path.ts';
import { holds } from '../support/properties.ts';
import { type Declared, extractQuirky, type Quirks, rightDeclaration } from '../support/quirky-service.ts';

const often = <Value>(usual: Value, other: fc.Arbitrary<Value>): fc.Arbitrary<Value> =>
  fc.oneof({ weight: 2, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: other });

const services: fc.Arbitrary<Quirks> = fc.record({
  kind: fc.constantFrom<Quirks['kind']>(
    'offset',
    'after',
    'page',
    'page',
    'skip',
    'url',
    'cursor',
    'link',
    'links',
    'header',
    'none',
  ),
  place: fc.constantFrom<Quirks['place']>('query', 'query', 'body', 'path'),
  records: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 4, max: 40 })),
  usual: fc.integer({ min: 2, max: 12 }),
  cap: fc.integer({ min: 2, max: 30 }),
  hasSize: fc.boolean(),
  firstPage: fc.constantFrom<0 | 1>(0, 1),
  beforeFirst: fc.constantFrom<Quirks['beforeFirst']>('first page', 'empty', 400),
  window: often<number | null>(null, fc.integer({ min: 2, max: 30 })),
  behind: fc.constantFrom<Quirks['behind']>('empty', 'no list', 200, 204, 400, 403, 404, 410, 416, 422, 426, 500),
  beyond: fc.constantFrom<Quirks['beyond']>('empty', 204, 400, 403, 404, 416, 422, 426, 429, 500, 503),
  last: fc.constantFrom<Quirks['last']>('absent', 'null', 'false', 'empty', 'zero', 'cursor stays'),
  drops: often<number | null>(null, fc.nat(3)),
  loops: often<number | null>(null, fc.integer({ min: 1, max: 3 })),
  flag: fc.constantFrom<Quirks['flag']>('right', 'none', 'full page', 'always false', 'always true'),
  total: fc.constantFrom<Quirks['total']>('right', 'none', 'own', 'small', 'large'),
  limited: often<Quirks['limited']>(
    null,
    fc.record({ at: fc.nat(8), status: fc.constantFrom<403 | 429 | 503>(403, 429, 503) }),
  ),
});

/** Ways to declare a service wrongly. */
const mistakes = {
  none: (declared: Declared) => declared,
  'next pointer nowhere': ({ paging, ...rest }: Declared) => ({ ...rest, paging: repointed(paging, '/nextt') }),
  'next pointer to null': ({ paging, ...rest }: Declared) => ({ ...rest, paging: repointed(paging, '/prev') }),
  'next pointer to a number': ({ paging, ...rest }: Declared) => ({ ...rest, paging: repointed(paging, '/total') }),
  'other first page': ({ paging, ...rest }: Declared): Declared => {
    if (paging.by !== 'page') return { ...rest, paging };
    const { first, ...others } = paging;
    return { ...rest, paging: first === 0 ? others : { ...others, first: 0 } };
  },
  'other parameter': ({ paging, ...rest }: Declared): Declared => {
    if (paging.by === 'page') return { ...rest, paging: { ...paging, page: 'p' } };
    if (paging.by === 'offset') return { ...rest, paging: { ...paging, offset: 'skip' } };
    if (paging.by === 'after') return { ...rest, paging: { ...paging, parameter: 'skip' } };
    return { ...rest, paging: 'cursor' in paging ? { ...paging, parameter: 'after' } : paging };
  },
  'no size': ({ paging, ...rest }: Declared): Declared => {
    if (paging.by !== 'page' && paging.by !== 'next' && paging.by !== 'after') return { ...rest, paging };
    const { size: _size, ...others } = paging;
    return { ...rest, paging: others };
  },
  'other size': ({ paging, ...rest }: Declared): Declared => ({
    ...rest,
    paging: paging.by === 'offset' ? { ...paging, limit: 'n' } : 'size' in paging ? { ...paging, size: 'n' } : paging,
  }),
  'other records': (declared: Declared) => ({ ...declared, records: '/facets' }),
  'no records': (declared: Declared) => ({ ...declared, records: '/data' }),
  'misspelled field': (declared: Declared) => ({ ...declared, field: 'nmae' }),
  'a flag that is something else': ({ paging, ...rest }: Declared) => ({
    ...rest,
    paging: { ...paging, hasMore: '/error' },
  }),
  'a flag nowhere': ({ paging, ...rest }: Declared) => ({ ...rest, paging: { ...paging, hasMore: '/hasMore' } }),
  'as offset': asPaging({ by: 'offset', limit: 'size', offset: 'offset' }),
  'as records after one': asPaging({ by: 'after', field: 'id', parameter: 'cursor', size: 'size' }),
  'after another field': ({ paging, ...rest }: Declared): Declared => ({
    ...rest,
    paging: paging.by === 'after' ? { ...paging, field: 'name' } : paging,
  }),
  'as pages': asPaging({ by: 'page', page: 'page', size: 'size' }),
  'as pages without a size': asPaging({ by: 'page', page: 'page' }),
  'as next': asPaging({ by: 'next', url: '/next', size: 'size' }),
  'as cursor without a size': asPaging({ by: 'next', cursor: '/next', parameter: 'cursor' }),
  'as link': asPaging({ by: 'next', link: true }),
  'as one response': asPaging({ by: 'none' }),
} satisfies Readonly<Record<string, (declared: Declared) => Declared>>;

type Mistake = keyof typeof mistakes;

function asPaging(paging: Paging) {
  return (declared: Declared): Declared => ({ ...declared, paging });
}

function repointed(paging: Paging, pointer: string): Paging {
  if (paging.by !== 'next' || 'link' in paging) return paging;
  if ('cursor' in paging) return { ...paging, cursor: pointer };
  return { ...paging, url: typeof paging.url === 'string' ? pointer : { ...paging.url, in: pointer } };
}

/** The declaration of a service with a mistake, and with the flag and the total that its author declared. */
function declare(quirks: Quirks, mistake: Mistake, hasFlag: boolean, hasTotal: boolean): Declared {
  const { paging, ...rest } = rightDeclaration(quirks);
  const { hasMore: _hasMore, ...unflagged } = paging;
  const declared = mistakes[mistake]({ ...rest, paging: unflagged, reportedCount: hasTotal ? '/total' : null });
  return hasFlag && declared.paging.hasMore === undefined
    ? { ...declared, paging: { ...declared.paging, hasMore: '/has_more' } }
    : declared;
}

/**
 * Returns whether something in the responses can show that a part of the list is missing. Nothing can if a service lies in every place that
 * the declaration names, or has none: docs/explanation/not-promised.md says so.
 */
function showsGaps(quirks: Quirks, { paging, reportedCount }: Declared, pageSize: number): boolean {
  const { kind, hasSize, flag, total, window } = quirks;
  const isLinked = ['url', 'cursor', 'link', 'links', 'header'].includes(kind);
  const isSized = hasSize && (paging.by === 'page' || paging.by === 'next') && paging.size?.endsWith('size') === true;
  // A total that equals the requested size could be its echo.
  const isEcho = quirks.records + (total === 'large' ? 3 : 0) === pageSize;
  if (reportedCount !== null && ['right', 'large'].includes(total) && !isEcho) return true;
  // A total that is a number of records of the window, or a cursor that skips to the end.
  if (reportedCount !== null && total === 'small' && window !== null) return false;
  if (nextPointer(paging) === '/total' && !isSized) return false;
  // No service is known to limit a list to one page whose own number of records it gives as its total.
  if (window !== null && reportedCount !== null && total === 'own' && window <= Math.max(quirks.usual, quirks.cap))
    return false;
  const isFlagged = paging.hasMore === '/has_more';
  const endsLikeList = (status: Quirks['behind'] | Quirks['beyond']) =>
    ['empty', 200, 204, 404, 410, 416].includes(status);
  if (window !== null) {
    const isQuiet = kind === 'none' || endsLikeList(quirks.beyond) || endsLikeList(quirks.behind);
    // Where pages name the next one, the last page may be empty.
    if (isFlagged) return flag === 'right' && !(isLinked && isQuiet);
    if (isQuiet) return false;
  }
  if (isFlagged && ['right', 'always true'].includes(flag)) return true;
  // A page that names no next page looks like the last one, unless pages of other sizes end elsewhere, or a flag contradicts it.
  if (isLinked && (quirks.drops !== null || window !== null)) return isSized || flag === 'right';
  const saysMore = ['right', 'always true'].includes(flag) || ['right', 'large'].includes(total);
  if (paging.by === 'none') return kind === 'none' || saysMore || isLinked;
  // A pointer to something that is always null, in a service that names no next page anywhere.
  return isLinked || kind === 'none' || isSized || saysMore || nextPointer(paging) !== '/prev';
}

const declarations = fc.record({
  mistake: fc.constantFrom(...(Object.keys(mistakes) as Mistake[])),
  hasFlag: fc.boolean(),
  hasTotal: fc.boolean(),
  pageSize: fc.constantFrom(2, 5, 10, 1000),
});

/** Returns the names that an extraction would publish; null if it or the gate refuses. */
async function publish(quirks: Quirks, declared: Declared, pageSize: number): Promise<readonly string[] | null> {
  try {
    const { verdicts, names } = await extractQuirky(quirks, declared, pageSize);
    // The gate refuses an empty dataset.
    return verdicts.every(({ complete }) => complete) && names.length > 0 ? names : null;
  } catch (error) {
    if (error instanceof RekapError) return null;
    throw error;
  }
}

const namesOf = ({ records }: Quirks): string[] => Array.from({ length: records }, (_, place) => `r${place}`);

describe('extraction', () => {
  let whole = 0;

  holds(
    'returns the whole list or refuses, for any end of a page and any mistake in the declaration',
    fc.asyncProperty(services, declarations, async (quirks, { mistake, hasFlag, hasTotal, pageSize }) => {
      const declared = declare(quirks, mistake, hasFlag, hasTotal);
      fc.pre(showsGaps(quirks, declared, pageSize));
      const names = await publish(quirks, declared, pageSize);
      if (names === null) return;
      expect(names.toSorted()).toEqual(namesOf(quirks).toSorted());
      whole += 1;
    }),
    { runs: 2000, afterwards: ({ cases }) => expect(whole).toBeGreaterThan(cases < 500 ? 0 : cases / 20) },
  );

  holds(
    'returns the whole list of a service that is declared as it pages',
    fc.asyncProperty(services, fc.constantFrom(2, 5, 10, 1000), async (given, pageSize) => {
      const quirks = asPromised(given);
      expect(await publish(quirks, rightDeclaration(quirks), pageSize)).toEqual(namesOf(quirks));
    }),
    { runs: 600 },
  );
});

/** The service without what a right declaration can't make good: then every list must be read, and no refusal is an excuse. */
function asPromised(given: Quirks): Quirks {
  const quirks: Quirks = { ...given, window: null, drops: null, loops: null, records: Math.max(3, given.records) };
  const flag = quirks.flag === 'right' ? 'right' : 'none';
  const total = quirks.total === 'right' || quirks.total === 'own' ? quirks.total : 'none';
  const isShown = quirks.hasSize && (flag === 'right' || total === 'right');
  const ends = quirks.behind === 'no list' && flag === 'right' ? 'no list' : 'empty';
  const behind =
    (isShown && quirks.behind !== 'no list') || ['empty', 200, 204, 404, 410, 416].includes(quirks.behind)
      ? quirks.behind
      : ends;
  // Only a flag shows the end if the cursor stays. Without a size, only a member that is there shows where the next page would be named.
  const isSpoken = quirks.hasSize && flag === 'right';
  const mustSpeak = (quirks.last === 'cursor stays' && !isSpoken) || (!quirks.hasSize && quirks.last === 'absent');
  const last = mustSpeak ? 'null' : quirks.last;
  const kind = ['link', 'links', 'header'].includes(quirks.kind) && !quirks.hasSize ? 'url' : quirks.kind;
  // Six errors and a rate limit in a row are too many.
  const limited = behind === 500 ? null : quirks.limited;
  return { ...quirks, kind, flag, total, behind, last, limited };
}
