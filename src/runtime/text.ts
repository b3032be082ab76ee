/** How numbers are written for people, and JSON so that it deceives nobody. */

/** With separators: 1,234. */
export function formatNumber(value: number | bigint): string {
  return value.toLocaleString('en');
}

/** 1 record, 2 records. */
export function countOf(count: number | bigint, noun: string): string {
  return `${formatNumber(count)} ${noun}${count.toString() === '1' ? '' : 's'}`;
}

/** JSON.stringify escapes what is below U+0020; C1 controls, DEL, and marks that turn or hide writing it leaves as they are. */
const deceptive = /[\u007f-\u009f\u2028\u2029]|\p{Cf}/gu;

/** JSON text in which characters that could steer or deceive a terminal are escapes; whoever parses it gets the same texts. */
export function escapeDeceptive(json: string): string {
  // A character beyond U+FFFF is two escapes, as JSON has it.
  const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return json.replace(deceptive, (character) => character.split('').map(escaped).join(''));
}
