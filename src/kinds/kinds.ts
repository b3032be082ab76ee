/** Returns the kind of a column. A missing kind doesn't compile. */

import { booleanKind } from './boolean.ts';
import { dateKind } from './date.ts';
import { decimalKind } from './decimal.ts';
import type { Kind } from './kind.ts';
import { textKind } from './text.ts';
import { timestampKind } from './timestamp.ts';
import { countKind, wholeNumberKind } from './whole-number.ts';
import type { ColumnDefinition } from '../project/declaration.ts';

export function kindOf(column: ColumnDefinition): Kind {
  switch (column.kind) {
    case 'text':
      return textKind;
    case 'integer':
      return wholeNumberKind(column.min, column.max);
    case 'count':
      return countKind;
    case 'decimal':
      return decimalKind(column.precision, column.scale);
    case 'boolean':
      return booleanKind;
    case 'date':
      return dateKind;
    case 'timestamp':
      return timestampKind(column.offset);
  }
}
