/** Formats names of places, which sources write in capitals. */

/** Words that stay in capitals, besides Roman numerals. */
const abbreviations = new Set(['DKI', 'DI']);
const roman = /^[IVX]+$/;

/** Turns `KOTA BANDA ACEH` into `Kota Banda Aceh`, and `DKI JAKARTA II` into `DKI Jakarta II`. Keeps a name with lower-case letters. */
export function titleCase(name: string): string {
  if (name !== name.toUpperCase()) return name;
  return name.replaceAll(/[\p{L}'’]+/gu, (word, at: number) => {
    // A Roman numeral after the name is the number of a district.
    if (abbreviations.has(word) || (roman.test(word) && at > 0)) return word;
    return word.slice(0, 1) + word.slice(1).toLowerCase();
  });
}
