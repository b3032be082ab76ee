/** Whole numbers as people read them. */

/** With separators: 1,234. */
export function formatNumber(value: number | bigint): string {
  return value.toLocaleString('en');
}

/** 1 record, 2 records. */
export function countOf(count: number | bigint, noun: string): string {
  return `${formatNumber(count)} ${noun}${count.toString() === '1' ? '' : 's'}`;
}
