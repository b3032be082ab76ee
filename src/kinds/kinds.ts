/** Returns the kind of a column. A missing kind doesn't compile. */

import { booleanKind } from './boolean.ts';
import { dateKind } from './date.ts';
import { decimalKind } from './decimal.ts';
import { doubleKind } from './double.ts';
import type { Kind } from './kind.ts';
import { jsonKind, textKind } from './text.ts';
import { timestampKind } from './timestamp.ts';
import { countKind, wholeNumberKind } from './whole-number.ts';
import type { ColumnDefinition } from '../project/declaration.ts';

export function kindOf(column: ColumnDefinition): Kind {
  switch (column.kind) {
    case 'text':
      return textKind(column.from === 'any');
    case 'json':
      return jsonKind;
    case 'double':
      return doubleKind;
    case 'integer':
      return wholeNumberKind(column);
    case 'count':
      return countKind(column.group);
    case 'decimal':
      return decimalKind(column);
    case 'boolean':
      return booleanKind;
    case 'date':
      return dateKind(column.format);
    case 'timestamp':
      return timestampKind(column);
  }
}
