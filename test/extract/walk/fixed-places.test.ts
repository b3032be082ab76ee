/** Sources that lose records by where a page begins or by what was asked before: never published without them, whoever showed them first. */

import { describe, expect, it } from 'vitest';
import { EnvelopeError, SourceStatusError } from '../../../src/errors.ts';
import { firstLength } from '../../../src/extract/walk/first-lengths.ts';
import type { PageRequest } from '../../../src/stages.ts';
import { maxReadings } from '../../../src/readings.ts';
import { runExtract } from '../../support/run-extract.ts';
import { faultless, simulateSource } from '../../support/simulated-source.ts';
import { lostBy, nowhere, recordsOf, twisted, type Asked } from './lossy-source.ts';

describe('a record that is passed over', () => {
  const records = recordsOf({ 1101: 15, 1102: 8, 1103: 14 });

  it.each(['nothing', 404] as const)(
    'behind the tenth is found in the first district too, %s past its end',
    async (pastEnd) => {
      const source = twisted(
        records,
        ({ offset, limit }) => ({ offset: offset >= 10 ? offset + 1 : offset, limit: Math.min(limit, 10) }),
        { pastEnd },
      );
      const { lost, proved } = await lostBy(source, records);
      expect(lost).toEqual([]);
      expect(proved).toContain(1101);
    },
  );

  it('at each border of ten is found, also in the district with which the list begins', async () => {
    const many = recordsOf({ 1101: 34, 1102: 8 });
    const source = twisted(many, ({ offset, limit }) => ({
      offset: offset + Math.floor(offset / 10),
      limit: Math.min(limit, 10),
    }));
    const { lost, proved } = await lostBy(source, many);
    expect({ lost, proved }).toEqual({ lost: [], proved: [1102] });
  });

  it('costs no more requests to look for where the first district fits into a page', async () => {
    const { requests } = await lostBy(
      twisted(records, () => ({})),
      records,
    );
    const larger = recordsOf({ 1101: 8, 1102: 8, 1103: 21 });
    expect(
      (
        await lostBy(
          twisted(larger, () => ({})),
          larger,
        )
      ).requests,
    ).toBe(requests);
  });

  it('by pages of two, counted instead of records, is found', async () => {
    const source = twisted(records, ({ offset, limit }) => ({ offset: offset * 2, limit: Math.min(2, limit) }));
    expect(await lostBy(source, records, { wanted: [1101, 1103] })).toMatchObject({ lost: [], proved: [] });
  });

  it('with all that is left of a page is no end: more is looked for behind it', async () => {
    // The third to the sixth record are taken out of each answer of two.
    const source = twisted(records, ({ offset, limit }) => ({
      offset: offset >= 2 && offset < 6 ? nowhere : offset,
      limit: Math.min(limit, offset < 2 ? 2 - offset : 2),
    }));
    const found = await lostBy(source, records, { wanted: [1101, 1103] });
    expect(found).toMatchObject({ lost: [], proved: [] });
    expect(found.verdicts[0]!.reason).toContain('though the district ended after');
  });

  it.each([
    ['one offset is empty', 4],
    ['every offset but the first is empty', 1],
  ])('is found with pages of one record, where %s', async (_, from) => {
    const source = twisted(records, ({ offset }) => ({
      offset: offset >= from && (from === 1 || offset === from) ? nowhere : offset,
    }));
    const found = await lostBy(source, records, { pageSize: 1, wanted: [1101] });
    expect(found).toMatchObject({ lost: [], proved: [] });
  });
});

describe('a source that knows no limit', () => {
  const records = recordsOf({ 1101: 19, 1102: 8, 1103: 34 });
  const everyTenth = { limit: 10 };

  it('and passes over a record at each border is found out, or read whole', async () => {
    const source = twisted(records, ({ dapil, offset }) => ({
      ...everyTenth,
      offset: dapil !== null && offset > 0 && offset % 10 === 0 ? offset + 1 : offset,
    }));
    const { lost } = await lostBy(source, records, { wanted: [1101, 1103] });
    expect(lost).toEqual([]);
  });

  it.each([
    ['of ten', 10, 10],
    ['of one', 1, 11],
  ])(
    'and repeats a record for another behind pages that begin with one %s is found out, or read whole',
    async (_, first, slipAt) => {
      const source = twisted(records, ({ offset }) => ({ limit: offset === 0 ? first : 10 }), { slipAt });
      const { lost } = await lostBy(source, records, { wanted: [1101, 1103] });
      expect(lost).toEqual([]);
    },
  );

  it('and has no other fault is read', async () => {
    const source = twisted(records, () => everyTenth);
    const { lost, proved } = await lostBy(source, records, { wanted: [1101, 1102, 1103] });
    expect({ lost, proved }).toEqual({ lost: [], proved: [1101, 1102, 1103] });
  });

  it('is read again from the landing as it was walked, where memory holds no page', async () => {
    const source = twisted(records, () => everyTenth);
    const { delivered } = await runExtract(source, { pageSize: 100, wanted: [1101, 1103], heldBytes: 0 });
    expect(delivered.toSorted()).toEqual(
      records
        .filter(({ dapil }) => dapil !== 1102)
        .map(({ dapil, regency, people }) => `${dapil} ${regency} ${people}`)
        .toSorted(),
    );
  });
});

describe('a district that the list does not name', () => {
  const records = recordsOf({ 1101: 120, 1102: 19, 1103: 8 });
  const whole = simulateSource(records, faultless, () => 0.5);
  const listed = simulateSource(
    records.filter(({ dapil }) => dapil !== 1102),
    faultless,
    () => 0.5,
  );

  /** The list comes in long pages, districts in pages of ten; `twist` is of the district alone. */
  function hidden(twist: (request: PageRequest) => Partial<PageRequest>) {
    const fetchPage = async (...[pipeline, request]: Asked) =>
      request.dapil === null
        ? listed.fetchPage(pipeline, request)
        : whole.fetchPage(pipeline, { ...request, limit: Math.min(request.limit, 10), ...twist(request) });
    return { ...whole, fetchPage };
  }

  it('is read on behind a page that was shorter than those of the list, though the next is empty for a moment', async () => {
    let empty = 1;
    const source = hidden(({ dapil, offset }) =>
      dapil === 1102 && offset === 10 && empty-- > 0 ? { offset: nowhere } : {},
    );
    const { lost, proved } = await lostBy(source, records);
    expect({ lost, proved: new Set(proved) }).toEqual({ lost: [], proved: new Set([1101, 1102, 1103]) });
  });

  it.each<[string, (request: PageRequest) => Partial<PageRequest>]>([
    ['that gives its first page alone', ({ offset }) => (offset > 0 ? { offset: nowhere } : {})],
    ['whose offset counts pages', ({ offset }) => ({ offset: offset * 10 })],
  ])('%s is not taken for whole', async (_, twist) => {
    const { lost, proved } = await lostBy(
      hidden((request) => (request.dapil === 1102 ? twist(request) : {})),
      records,
    );
    expect(lost).toEqual([]);
    expect(proved).not.toContain(1102);
  });
});

describe('a source without fault', () => {
  const records = recordsOf({ 1101: 25, 1102: 8, 1103: 14 });
  const reference = [1101, 1102, 1103];

  it.each([
    new SourceStatusError(400, 'no such limit'),
    new SourceStatusError(500, 'no such limit'),
    new EnvelopeError('no such limit'),
  ])('that answers only for some page sizes is read: %s', async (refusal) => {
    const many = recordsOf({ 1101: 55, 1102: 8, 1103: 4 });
    const source = simulateSource(many, { ...faultless, cap: 10 }, () => 0.5);
    const choosy = async (...[pipeline, request]: Asked) => {
      if (request.limit !== 10) throw refusal;
      return source.fetchPage(pipeline, request);
    };
    const { lost, proved } = await lostBy({ ...source, fetchPage: choosy }, many, { pageSize: 10 });
    expect({ lost, proved: new Set(proved) }).toEqual({ lost: [], proved: new Set(reference) });
  });

  it('that gives its first page again behind a district is read', async () => {
    const source = twisted(records, ({ dapil, offset, limit }) => {
      const size = records.filter((record) => record.dapil === dapil).length;
      return { offset: dapil !== null && offset > size ? 0 : offset, limit: Math.min(limit, 10) };
    });
    const { lost, proved } = await lostBy(source, records, { wanted: reference });
    expect({ lost, proved: new Set(proved) }).toEqual({ lost: [], proved: new Set(reference) });
  });

  it('is asked behind districts no more once it has not answered there, or once it gave long pages', async () => {
    const asksBehind = async (cap: number, answers: boolean): Promise<number> => {
      const source = twisted(records, ({ limit }) => ({ limit: Math.min(limit, cap) }));
      let behind = 0;
      const tryPage = async (...asked: Asked) => {
        behind += 1;
        return answers ? source.fetchPage(...asked) : null;
      };
      const { lost } = await lostBy({ ...source, tryPage }, records, { wanted: reference, concurrency: 1 });
      expect(lost).toEqual([]);
      return behind;
    };
    expect(await asksBehind(4, true)).toBe(6);
    expect(await asksBehind(4, false)).toBe(2);
    expect(await asksBehind(100, true)).toBe(0);
  });

  it('that gives one record at a time is warned of, for nothing would show what it passes over', async () => {
    const one = twisted(records, ({ limit }) => ({ limit: Math.min(limit, 1) }));
    const { warnings } = await runExtract(one, { pageSize: 100, wanted: reference });
    expect(warnings).toEqual([expect.stringContaining('gives one record at a time')]);
    // A list that names the same is a second account.
    const { warnings: others } = await runExtract(one, { pageSize: 100, reference });
    expect(others).toEqual([]);
    const two = twisted(records, ({ limit }) => ({ limit: Math.min(limit, 2) }));
    expect((await runExtract(two, { pageSize: 100, wanted: reference })).warnings).toEqual([]);
    // One of two records is read by one, for a second reading to begin elsewhere.
    const small = recordsOf({ 1101: 2, 1102: 8 });
    expect(
      (
        await runExtract(
          simulateSource(small, faultless, () => 0.5),
          { wanted: [1101, 1102] },
        )
      ).warnings,
    ).toEqual([]);
  });

  it('that gives one record of each district is warned of where it has no list of all', async () => {
    const first = simulateSource(records, { ...faultless, cap: 1, stuckFilter: true, sweep: 'refused' }, () => 0.5);
    const { warnings } = await runExtract(first, { pageSize: 100, reference });
    expect(warnings.join()).toContain('one record of each district');
  });
});

describe('the pages of every reading', () => {
  it.each([2, 3, 4, 5, 6, 7, 10, 100, 1000])(
    'of %i records begin elsewhere than those of the one before',
    (longest) => {
      for (const beginsList of [false, true]) {
        // The list is what the first reading is compared with where it begins with the district.
        const places = beginsList ? [0] : [];
        for (let reading = 1; reading <= maxReadings; reading += 1)
          places.push(firstLength(reading, longest, beginsList) % longest);
        for (const [index, place] of places.entries()) expect(place).not.toBe(places[index - 1]);
      }
    },
  );
});

describe('what a list has shown that failed', () => {
  const records = recordsOf({ 1101: 15, 1102: 8, 1103: 14 });
  const others = records.filter(({ regency }) => regency !== 'R3');

  it('is not forgotten where it begins anew behind its end', async () => {
    const list = twisted(records, ({ offset }) => ({ offset: offset % records.length }));
    const districts = simulateSource(others, faultless, () => 0.5);
    const fetchPage = async (...[pipeline, request]: Asked) =>
      (request.dapil === null ? list : districts).fetchPage(pipeline, request);
    await expect(lostBy({ ...districts, fetchPage }, records)).rejects.toThrow('begins anew past its end');
  });

  it('is not forgotten where it fails, of a district that is empty by itself', async () => {
    const source = twisted(records, ({ dapil, limit }) => ({
      limit: Math.min(limit, 10),
      ...(dapil === 1102 ? { offset: nowhere } : {}),
    }));
    const failing = async (...[pipeline, request]: Asked) => {
      if (request.dapil === null && request.offset >= 30) throw new SourceStatusError(500, 'out of order');
      return source.fetchPage(pipeline, request);
    };
    await expect(lostBy({ ...source, fetchPage: failing }, records)).rejects.toThrow('out of order');
  });

  it('is not forgotten where its page came before its turn, and the turn never came', async () => {
    const lacking = records.filter(({ dapil, regency }) => dapil !== 1103 || regency !== 'R3');
    const source = simulateSource(lacking, faultless, () => 0.5);
    const whole = simulateSource(records, faultless, () => 0.5);
    const failing = {
      ...source,
      fetchPage: async (...[pipeline, request]: Asked) => {
        if (request.dapil !== null) return source.fetchPage(pipeline, request);
        if (request.offset >= 10) throw new SourceStatusError(500, 'out of order');
        return whole.fetchPage(pipeline, request);
      },
      tryPage: async (...[pipeline, request]: Asked) =>
        request.offset === 10 ? null : whole.fetchPage(pipeline, request),
    };
    // R3 of 1103 stands on the third page of the list alone.
    await expect(lostBy(failing, records, { pageSize: 10, expected: { voters: records.length } })).rejects.toThrow(
      'out of order',
    );
  });
});

describe('what an earlier reading has brought', () => {
  const records = recordsOf({ 1101: 20, 1102: 8 });

  it('is not forgotten where one in between began anew', async () => {
    const source = twisted(records, ({ dapil, reading, offset, limit }) => {
      if (dapil !== 1101) return {};
      const number = reading % 10;
      if (number === 2) return { offset: 0, limit: Math.min(limit, 13) };
      return number > 2 && offset + limit > 15
        ? { offset: Math.min(offset, 15), limit: 15 - Math.min(offset, 15) }
        : {};
    });
    expect(await lostBy(source, records, { wanted: [1101, 1102] })).toMatchObject({ lost: [] });
  });

  it('is not made up for by as many others', async () => {
    // The first reading brings R0 to R11, all others R1 to R12.
    const source = twisted(records, ({ dapil, reading, offset, limit }) =>
      dapil === 1101
        ? { offset: offset + (reading % 10 > 1 ? 1 : 0), limit: Math.max(0, Math.min(limit, 12 - offset)) }
        : {},
    );
    const { proved, verdicts } = await lostBy(source, records, { wanted: [1101, 1102] });
    expect(proved).toEqual([1102]);
    expect(verdicts[0]!.reason).toContain('an earlier reading brought 12 records, of which its own pages lack 1 in');
  });
});
