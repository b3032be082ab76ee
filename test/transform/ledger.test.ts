/** Every record is accounted for: published once, in quarantine whole, or counted as a duplicate. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { voters } from '../support/bundled.ts';
import { Transformer } from '../../src/transform/transformer.ts';
import { pageOf, voterRecord } from '../support/pages.ts';
import { dptMale, place, recordJson, transform } from './support.ts';
import { holds } from '../support/properties.ts';

describe('the ledger', () => {
  it('counts an identical record as a duplicate, on the same page and on another', () => {
    const { rows, totals, violations } = transform([voterRecord(), voterRecord()], [voterRecord()]);
    expect(rows).toHaveLength(1);
    expect(violations).toEqual([]);
    expect(totals.ledger).toEqual({ fetched: 3, published: 1, quarantined: 0, duplicates: 2 });
  });

  it('keeps the first of two records with one key, the other in quarantine and named', () => {
    const other = voterRecord({ [dptMale]: '1' });
    const { rows, totals, violations, quarantined } = transform([voterRecord(), other]);
    expect(rows).toMatchObject([{ dpt_male: 70_800 }]);
    expect(violations).toMatchObject([{ place, check_name: 'conflicting_records', severity: 'error' }]);
    expect(quarantined).toMatchObject([{ dataset: 'voters', record: JSON.stringify(other) }]);
    expect(totals.ledger).toEqual({ fetched: 2, published: 1, quarantined: 1, duplicates: 0 });
  });

  it('takes a record for another as soon as one of its values differs', () => {
    const values = Object.entries(voters.columns).filter(([name]) => !voters.key.some((key) => key === name));
    for (const [name, { field }] of values) {
      const { totals } = transform([voterRecord(), voterRecord({ [field]: '3' })]);
      expect(totals.ledger, name).toMatchObject({ published: 1, quarantined: 1 });
    }
  });

  it('compares keys as they are published: half a surrogate pair is the replacement character', () => {
    const records = ['"A\\ud800"', '"A\\udfff"'].map((json) => recordJson('NamaKabupaten', json));
    expect(transform(`[${records.join(',')}]`).totals.ledger).toMatchObject({ published: 1, quarantined: 1 });
  });

  it('counts a conflicting record that comes again as a duplicate', () => {
    const other = voterRecord({ [dptMale]: '1' });
    const { totals, violations } = transform([voterRecord(), other, other]);
    expect(totals.ledger).toEqual({ fetched: 3, published: 1, quarantined: 1, duplicates: 1 });
    expect(violations).toHaveLength(1);
  });

  it('tells keys apart whatever characters their texts hold, and wherever one text ends and the next begins', () => {
    const apart = transform([
      voterRecord({ NamaProvinsi: 'AB', NamaKabupaten: 'C' }),
      voterRecord({ NamaProvinsi: 'A', NamaKabupaten: 'BC' }),
    ]);
    expect(apart.totals.ledger.published).toBe(2);
    const { totals } = transform([
      voterRecord({ NamaProvinsi: 'A\0B', NamaKabupaten: 'C' }),
      voterRecord({ NamaProvinsi: 'A', NamaKabupaten: 'B\0C' }),
    ]);
    expect(totals.ledger.published).toBe(2);
  });

  it('puts what has no usable key into quarantine, byte for byte, with the request that brought it', () => {
    const others = ['5', '9007199254740993', '1e400', '"ACEH"', 'true', 'null', '[1, 2]', '{}'];
    const spaced = '{ "IdDapil" : 9007199254740993 ,"x":0.10000000000000000001}';
    const faulty: [string, string][] = [
      ['NamaKabupaten', '""'],
      ['NamaKabupaten', '5'],
      ['IdDapil', '"x"'],
      ['TahunPemilu', 'null'],
    ];
    const records = [...others, spaced, ...faulty.map(([field, json]) => recordJson(field, json))];
    const { rows, quarantined, totals, violations } = transform(`[${records.join(', ')}]`);
    expect(rows).toEqual([]);
    expect(violations).toEqual([]);
    expect(quarantined.map(({ record }) => record)).toEqual(records);
    expect(new Set(quarantined.map((each) => each.request))).toEqual(
      new Set(['/api/datapemilihdpr?id_dapil=1101&limit=20&offset=40']),
    );
    expect(quarantined.slice(-4).map(({ reason }) => reason.split(' ')[0])).toEqual(faulty.map(([field]) => field));
    expect(totals.ledger).toEqual({ fetched: 13, published: 0, quarantined: 13, duplicates: 0 });
  });

  it('takes 0 for a number like any other in a key', () => {
    const { rows, totals } = transform([voterRecord({ IdDapil: '0' }), voterRecord({ TahunPemilu: 0 })]);
    expect(rows.map((row) => [row['dapil_id'], row['election_year']])).toEqual([
      [0, 2024],
      [1101, 0],
    ]);
    expect(totals.ledger).toMatchObject({ published: 2, quarantined: 0 });
  });

  it('takes a figure and the same figure as a text for two values', () => {
    const { totals } = transform(`[${recordJson(dptMale, '5')},${recordJson(dptMale, '"5"')}]`);
    expect(totals.ledger).toMatchObject({ published: 1, quarantined: 1, duplicates: 0 });
  });

  it('names each record in quarantine once, though many batches follow', () => {
    const whole = JSON.stringify(voterRecord({ NamaKabupaten: '#' }));
    const records = Array.from({ length: 16_384 + 1 }, (_, at) => whole.replace('#', `R${at}`));
    const { quarantined, batches, totals } = transform(`["no record",${records.join(',')}]`);
    expect(batches.length).toBeGreaterThan(1);
    expect(quarantined.map(({ record }) => record)).toEqual(['"no record"']);
    expect(totals.ledger).toMatchObject({ published: records.length, quarantined: 1 });
  });

  it('hands on what is in quarantine before there is too much of it, though no batch is full of rows', () => {
    const transformer = new Transformer(voters);
    transformer.beginPartition();
    const texts = Array.from({ length: 20_000 }, (_, at) => `no record ${at}`);
    const full = transformer.addPage(pageOf(voters, texts));
    expect(full.map(({ quarantined }) => quarantined.length)).toEqual([16_384]);
    expect(transformer.finish().quarantined).toHaveLength(20_000 - 16_384);
  });

  it('counts the same record without a key once in each partition, whichever comes first', () => {
    const transformer = new Transformer(voters);
    const keyless = voterRecord({ NamaKabupaten: '' });
    transformer.beginPartition();
    transformer.addPage(pageOf(voters, [keyless, keyless]));
    transformer.beginPartition();
    transformer.addPage(pageOf(voters, [keyless, voterRecord({ NamaKabupaten: null })]));
    expect(transformer.finish().quarantined).toHaveLength(3);
    expect(transformer.totals().ledger).toEqual({ fetched: 4, published: 0, quarantined: 3, duplicates: 1 });
  });

  it('leaves a record without a key to the partition that brought it, where the list of all brings it too', () => {
    const transformer = new Transformer(voters);
    const keyless = voterRecord({ IdDapil: null });
    transformer.beginPartition();
    transformer.addPage(pageOf(voters, [keyless], { partition: '1101' }));
    transformer.beginPartition();
    transformer.addPage(pageOf(voters, [keyless, voterRecord({ IdDapil: 'x' })], { partition: null }));
    const { quarantined } = transformer.finish();
    expect(quarantined.map(({ request }) => request.includes('id_dapil=1101'))).toEqual([true, false]);
    expect(transformer.totals().ledger).toEqual({ fetched: 3, published: 0, quarantined: 2, duplicates: 1 });
  });

  const nearly = fc.record({
    NamaKabupaten: fc.constantFrom('A', 'B', 'C', '', null, 5),
    IdDapil: fc.constantFrom('1101', 1101, '1102', 'x', undefined),
    [dptMale]: fc.constantFrom('1', '2', 'x', null),
  });
  const record = fc.oneof(fc.jsonValue({ maxDepth: 3 }), nearly.map(voterRecord));

  holds(
    'balances for any list of JSON values on any pages, and publishes each key once',
    fc.property(fc.array(fc.array(record, { maxLength: 12 }), { maxLength: 4 }), (pages) => {
      const { rows, quarantined, totals } = transform(...pages);
      const { fetched, published, quarantined: held, duplicates } = totals.ledger;
      expect(fetched).toBe(pages.flat().length);
      expect(fetched).toBe(published + held + duplicates);
      expect(published).toBe(rows.length);
      expect(held).toBe(quarantined.length);
      expect(new Set(rows.map((row) => `${String(row['dapil_id'])} ${String(row['regency'])}`)).size).toBe(published);
    }),
    { runs: 100 },
  );
});
