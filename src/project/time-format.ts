/** Reads dates and times in a declared format: YYYY, MM, DD, HH, mm and ss, and any text between them. */

const tokens: Readonly<Record<string, readonly [pattern: string, example: string]>> = {
  YYYY: ['([0-9]{4})', '2024'],
  MM: ['([0-9]{2})', '02'],
  DD: ['([0-9]{2})', '14'],
  HH: ['([0-9]{2})', '07'],
  mm: ['([0-9]{2})', '30'],
  ss: ['([0-9]{2})', '00'],
};
const token = /YYYY|MM|DD|HH|mm|ss/g;

const known = new Map<string, { readonly names: readonly string[]; readonly pattern: RegExp }>();

/** Converts a text in this format to ISO 8601, such as 2024-02-14T07:30:00. Parts that the format doesn't have are 0. Returns null for another format. */
export function reordered(text: string, format: string): string | null {
  let compiled = known.get(format);
  if (compiled === undefined) {
    const names = format.match(token) ?? [];
    const between = format.split(token).map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`));
    const pattern = new RegExp(
      `^${between.map((part, index) => part + (names[index] === undefined ? '' : tokens[names[index]]![0])).join('')}$`,
    );
    compiled = { names, pattern };
    known.set(format, compiled);
  }
  const found = compiled.pattern.exec(text);
  if (found === null) return null;
  const parts = Object.fromEntries(compiled.names.map((name, index) => [name, found[index + 1]!]));
  const { YYYY, MM, DD, HH = '00', mm = '00', ss = '00' } = parts;
  return `${YYYY}-${MM}-${DD}T${HH}:${mm}:${ss}`;
}

/** Writes the start of an ISO 8601 time, such as 2024-02-14T07:30:00, in a format. */
export function formatted(iso: string, format: string): string {
  const [YYYY, MM, DD, HH, mm, ss] = iso.split(/[-T:]/);
  const parts: Readonly<Record<string, string | undefined>> = { YYYY, MM, DD, HH, mm, ss };
  return format.replaceAll(token, (name) => parts[name]!.slice(0, name.length));
}

export function exampleOf(format: string): string {
  return format.replaceAll(token, (name) => tokens[name]![1]);
}

/** Returns what is wrong with a format; null if it has each part of a date once, and each part of a time at most once. */
export function problemOfFormat(format: string, isDate: boolean): string | null {
  const names: readonly string[] = format.match(token) ?? [];
  const missing = ['YYYY', 'MM', 'DD'].find((name) => !names.includes(name));
  if (missing !== undefined) return `has no ${missing}`;
  if (new Set(names).size < names.length) return 'has a part twice';
  if (isDate && names.length > 3) return 'has a part of a time';
  return null;
}
