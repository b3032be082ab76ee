/** Reads true and false, as JSON literals or texts. */

import { packBits, SmallColumn } from './column.ts';
import { describeMalformed, type Kind } from './kind.ts';
import * as arrow from '../runtime/arrow.ts';
import { nullReasonOf, readRaw } from './read-field.ts';
import { NullReason } from '../project/reserved.ts';
import type { Page } from '../stages.ts';

export const booleanKind: Kind = {
  sqlType: 'BOOLEAN',
  stagedType: 'BOOLEAN',
  ...describeMalformed('is neither true nor false', 'bukan true maupun false'),
  schema: { type: 'string', enum: ['true', 'false'] },
  newColumn: (rows) =>
    new SmallColumn(
      {
        read: readBoolean,
        print: (units) => units === 1n,
        toData: (values, validity) =>
          arrow.makeData({ ...validity, type: new arrow.Bool(), data: packBits(values, validity.length) }),
      },
      rows,
    ),
};

function readBoolean(page: Page, record: number, column: number): bigint | number {
  const raw = readRaw(page, record, column);
  if (raw === 'true') return 1n;
  if (raw === 'false') return 0n;
  if (raw === '') return NullReason.empty;
  return raw === null
    ? nullReasonOf(page.records.fieldKind[record * page.records.width + column])
    : NullReason.malformed;
}
