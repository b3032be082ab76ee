/** Formats numbers for people, and escapes JSON for terminals. */

/** With separators: 1,234. */
export function formatNumber(value: number | bigint): string {
  if (typeof value === 'number' && !Number.isSafeInteger(value)) return value.toLocaleString('en');
  // Not with Node's formatter, which takes longer to load than a small query to run.
  return formatDecimal(String(value));
}

/** Adds separators to a number in digits, which may have a fraction. */
export function formatDecimal(digits: string): string {
  const [whole = '', fraction] = digits.split('.');
  const grouped = whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

export function countOf(count: number | bigint, noun: string): string {
  return `${formatNumber(count)} ${noun}${count.toString() === '1' ? '' : 's'}`;
}

export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

/** With one decimal: 12.3 s. */
export function formatSeconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}

/** Uses the largest unit of which there are at least two, such as 5 h, 3 d or 20 min. */
export function formatAge(milliseconds: number): string {
  const minutes = Math.round(milliseconds / 60_000);
  if (minutes === 0) return 'less than a minute';
  if (minutes < 120) return `${minutes} min`;
  return minutes < 2880 ? `${Math.round(minutes / 60)} h` : `${Math.round(minutes / 1440)} d`;
}

const credentials = /(\b(?!s3:)[a-z][\w+.-]*:\/\/|^(?![a-z][\w+.-]*:\/\/)(?=[^\s:]*:))\S*@/gi;

/** Removes users and passwords from URLs in a text, also from malformed ones. */
export function hideCredentials(text: string): string {
  return text.replaceAll(credentials, '$1[redacted]@');
}

/** Characters that JSON.stringify doesn't escape: C1 controls, DEL, format characters, and two that YAML refuses. */
export const deceptive = /[\u007f-\u009f\u2028\u2029\ufffe\uffff]|\p{Cf}/gu;

/** Escapes characters in JSON that could control or mislead a terminal. The parsed value stays the same. */
export function escapeDeceptive(json: string): string {
  // In JSON, a character above U+FFFF takes two escapes.
  const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return json.replace(deceptive, (character) => character.split('').map(escaped).join(''));
}
