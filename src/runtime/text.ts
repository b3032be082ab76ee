/** How numbers are written for people, and JSON so that it deceives nobody. */

/** With separators: 1,234. */
export function formatNumber(value: number | bigint): string {
  return value.toLocaleString('en');
}

/** 1 record, 2 records. */
export function countOf(count: number | bigint, noun: string): string {
  return `${formatNumber(count)} ${noun}${count.toString() === '1' ? '' : 's'}`;
}

/** 512 B, 3.1 kB, 42 MB. */
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

/** What stands before the @ of a URL, or of a text that is to be one and lacks "https://". An address of a bucket has no user. */
const credentials = /(\b(?!s3:)[a-z][\w+.-]*:\/\/|^(?![a-z][\w+.-]*:\/\/)(?=[^\s:]*:))\S*@/gi;

/** A text without the users and passwords of its URLs, also of one that is malformed. */
export function hideCredentials(text: string): string {
  return text.replaceAll(credentials, '$1[redacted]@');
}

/** JSON.stringify escapes what is below U+0020; C1 controls, DEL, and marks that turn or hide writing it leaves as they are. */
const deceptive = /[\u007f-\u009f\u2028\u2029]|\p{Cf}/gu;

/** JSON text in which characters that could steer or deceive a terminal are escapes; whoever parses it gets the same texts. */
export function escapeDeceptive(json: string): string {
  // A character beyond U+FFFF is two escapes, as JSON has it.
  const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return json.replace(deceptive, (character) => character.split('').map(escaped).join(''));
}
