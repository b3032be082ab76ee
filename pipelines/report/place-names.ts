/** Names of places as a reader expects them: sources write them in capitals. */

/** Words that keep their capitals, beside Roman numerals. */
const abbreviations = new Set(['DKI', 'DI']);
const roman = /^[IVX]+$/;

/** `KOTA BANDA ACEH` becomes `Kota Banda Aceh`, `DKI JAKARTA II` becomes `DKI Jakarta II`. A name that has small letters stays as it is. */
export function titleCase(name: string): string {
  if (name !== name.toUpperCase()) return name;
  return name.replaceAll(/[\p{L}'’]+/gu, (word, at: number) => {
    // A single letter, as in "P A P U A", and the number of a district behind its name.
    if (abbreviations.has(word) || (roman.test(word) && at > 0)) return word;
    return word.slice(0, 1) + word.slice(1).toLowerCase();
  });
}
