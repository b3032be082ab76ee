/** A field is read as the source wrote it: exact digits, or why there are none, and never a guessed number. */

import { expect, it } from 'vitest';
import { voters } from '../support/bundled.ts';
import { readInteger, readRaw, readText } from '../../src/kinds/read-field.ts';
import { NullReason } from '../../src/project/reserved.ts';
import { pageOf, voterRecord } from '../support/pages.ts';

const field = 'JumlahSeluruhPemilih';
const column = Object.values(voters.columns).findIndex((definition) => definition.field === field);
const { missing, malformed, empty } = NullReason;
const nines = '9'.repeat(350);
const twice = `"12","${field}":"13"`;

it.each<[json: string | undefined, integer: number, text: string | null, raw: string | null]>([
  [undefined, missing, null, null],
  ['null', NullReason.null, null, null],
  ['""', empty, '', ''],
  [`"${'0'.repeat(30)}12"`, 12, `${'0'.repeat(30)}12`, `${'0'.repeat(30)}12`],
  ['2147483647', 2_147_483_647, null, '2147483647'],
  [String.raw`"1\u0032\u0033"`, 123, '123', '123'],
  ['"2147483648"', malformed, '2147483648', '2147483648'],
  ['"4294967297"', malformed, '4294967297', '4294967297'],
  ['"18446744073709551617"', malformed, '18446744073709551617', '18446744073709551617'],
  [`"${nines}"`, malformed, nines, nines],
  ['"144.190"', malformed, '144.190', '144.190'],
  ['"１２٣"', malformed, '１２٣', '１２٣'],
  [String.raw`"1\u002c5"`, malformed, '1,5', '1,5'],
  ['1.50', malformed, null, '1.50'],
  ['-0', malformed, null, '-0'],
  ['{ "a" : [1] }', malformed, null, '{ "a" : [1] }'],
  [String.raw`"A\ud800B"`, malformed, null, String.raw`"A\ud800B"`],
  [twice, malformed, null, twice],
])('reads %s as integer, text and raw text', (json, integer, text, raw) => {
  const rest = JSON.stringify(voterRecord({ [field]: undefined }));
  const record = json === undefined ? rest : `${rest.slice(0, -1)},"${field}":${json}}`;
  const page = pageOf(voters, `[${JSON.stringify(voterRecord())},${record}]`);
  expect([readInteger(page, 1, column), readText(page, 1, column), readRaw(page, 1, column)]).toEqual([
    integer,
    text,
    raw,
  ]);
});
