/** Two records have one hash only where they say the same, for all that a table could hold. */

import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { voters } from '../support/bundled.ts';
import { fingerprintBytes, fingerprintContent } from '../../src/kinds/fingerprints.ts';
import type { Page } from '../../src/stages.ts';
import { pageOf, voterRecord } from '../support/pages.ts';
import { dptMale, recordJson } from './support.ts';

const columns = [...Object.keys(voters.columns).keys()];

function hashValues(page: Page, row: number): string {
  const content = { high: 0, low: 0 };
  fingerprintContent(page, row, { high: 1, low: 2 }, columns, content);
  return `${content.high} ${content.low}`;
}

function hashRecord(page: Page, row: number): string {
  const content = { high: 0, low: 0 };
  fingerprintBytes(page, row, content);
  return `${content.high} ${content.low}`;
}

const hashesOf = (data: string): string[] => {
  const page = pageOf(voters, data);
  return Array.from({ length: page.records.length }, (_, row) => hashValues(page, row));
};

it('tells 200,000 records apart by one text', () => {
  // Of texts as mixed as these, a hash of 32 bits would give some five pairs the same.
  const texts = Array.from({ length: 200_000 }, (_, place) =>
    createHash('sha256').update(String(place)).digest('base64').slice(0, 12),
  );
  const page = pageOf(voters, `[${texts.map((text) => `{"${dptMale}":"${text}"}`).join(',')}]`);
  for (const hash of [hashValues, hashRecord])
    expect(new Set(texts.map((_, row) => hash(page, row))).size).toBe(texts.length);
});

it('tells a figure, a text, null, nothing and an empty text apart', () => {
  const spellings = ['"5"', '5', '"null"', 'null', '""', '"true"', 'true', '[]', '"[]"'];
  const records = [
    ...spellings.map((json) => recordJson(dptMale, json)),
    JSON.stringify(voterRecord({ [dptMale]: undefined })),
  ];
  expect(new Set(hashesOf(`[${records.join(',')}]`)).size).toBe(records.length);
});

it('goes by what a text says, not by how it is escaped', () => {
  const spellings = ['"ACEH/BÉ"', '"ACEH\\/BÉ"', '"\\u0041CEH/B\\u00c9"'];
  const same = spellings.map((json) => recordJson('NamaProvinsi', json));
  expect(new Set(hashesOf(`[${same.join(',')}]`)).size).toBe(1);
  const others = ['"ACEH\\\\/BÉ"', '"ACEH/BE"'].map((json) => recordJson('NamaProvinsi', json));
  expect(new Set(hashesOf(`[${[same[0], ...others].join(',')}]`)).size).toBe(3);
});

it('goes by what stands in which field, not by the order, the space between, or fields that are not declared', () => {
  const record = voterRecord();
  const turned = Object.fromEntries(Object.entries(record).toReversed());
  const others = [turned, { ...record, Note: 'x' }].map((each) => JSON.stringify(each));
  const same = [JSON.stringify(record), JSON.stringify(record, null, 2), ...others];
  expect(new Set(hashesOf(`[${same.join(',')}]`)).size).toBe(1);
  const swapped = voterRecord({ NamaProvinsi: record['NamaKabupaten'], NamaKabupaten: record['NamaProvinsi'] });
  expect(new Set(hashesOf(JSON.stringify([record, swapped]))).size).toBe(2);
});
