/** Some records of a page make a page that says of them what the whole page said. */

import fc from 'fast-check';
import { expect } from 'vitest';
import { voters } from '../../../pipelines/voters.ts';
import { selectRecords } from '../../../src/extract/scan/select-records.ts';
import { readInteger, readText } from '../../../src/records/fields.ts';
import type { Page } from '../../../src/stages.ts';
import { pageOf, voterRecord } from '../../support/pages.ts';
import { holds } from '../../support/properties.ts';

const item = fc.oneof(
  fc
    .tuple(fc.nat(), fc.string())
    .map(([people, name]) => voterRecord({ JumlahSeluruhPemilih: people, NamaDapil: name })),
  fc.constantFrom<unknown>(null, 5, [], {}),
);

/** Everything that a page says of one of its records. */
function described(page: Page, row: number): unknown {
  const { bytes, records } = page;
  const columns = Object.keys(voters.columns).map((_, column) => [
    readInteger(page, row, column),
    readText(page, row, column),
  ]);
  return [bytes.toString('utf8', records.recordStart[row], records.recordEnd[row]), records.isObject[row], columns];
}

holds(
  'chosen by their places, in the order in which they are named',
  fc.property(
    fc.array(item, { minLength: 1, maxLength: 8 }),
    fc.array(fc.nat(), { maxLength: 8 }),
    (items, choices) => {
      const page = pageOf(voters, items);
      const rows = [...new Set(choices.map((choice) => choice % items.length))];
      const selected = selectRecords(page, rows);
      expect(selected.records.length).toBe(rows.length);
      expect(rows.map((_, place) => described(selected, place))).toEqual(rows.map((row) => described(page, row)));
    },
  ),
  { runs: 200 },
);
