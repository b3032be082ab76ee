/** Texts that are easily altered on the way into a table: quotes, NUL, emoji, bidi marks, combining marks, a megabyte. */

export const hostileTexts: readonly string[] = [
  `"'\``,
  'NUL \0 within',
  '\0',
  '😀',
  '\u202eRTL\u2066',
  ' ',
  '\n\t\\',
  'é',
  'e\u0301',
  'x'.repeat(1 << 20),
  "'; DROP TABLE voters; --",
];
