/** A pattern stands where all of its bytes stand, and nowhere else, the end of the bytes included. */

import fc from 'fast-check';
import { expect } from 'vitest';
import { BytePattern } from '../../../src/source/decode/record-scanner.ts';
import { holds } from '../../support/properties.ts';

const bytes = (minLength: number, maxLength: number) => fc.uint8Array({ minLength, maxLength });

holds(
  'stands where its bytes do, and not where one of them is another or the bytes end before it does',
  fc.property(
    bytes(4, 40),
    bytes(0, 9),
    bytes(0, 9),
    fc.nat(),
    fc.integer({ min: 1, max: 255 }),
    (sought, before, after, at, by) => {
      const pattern = new BytePattern(Buffer.from(sought));
      const stands = (text: Buffer): boolean =>
        // A view into other bytes, as those of an answer may be.
        pattern.matchesAt(new DataView(text.buffer, text.byteOffset, text.length), before.length);
      const whole = Buffer.concat([before, sought, after]);
      expect(pattern.length).toBe(sought.length);
      expect(stands(whole)).toBe(true);
      expect(stands(whole.subarray(0, before.length + sought.length - 1))).toBe(false);
      whole[before.length + (at % sought.length)]! ^= by;
      expect(stands(whole)).toBe(false);
    },
  ),
  { runs: 300 },
);
