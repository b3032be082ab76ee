/** Names and sorts partitions. */

/** @param name Its name in the records; null if unknown. */
export function namePartition(partition: string | null, name: string | null = null): string {
  return partition === null ? 'the full listing' : `partition ${partition}${name === null ? '' : ` (${name})`}`;
}

/** Compares two partitions for sorting: numbers by value, other texts by code point, the full listing first. */
export function comparePartitions(a: string | null, b: string | null): number {
  if (a === null || b === null) return Number(a !== null) - Number(b !== null);
  const isNumber = /^-?\d+$/;
  if (isNumber.test(a) && isNumber.test(b)) {
    const difference = BigInt(a) - BigInt(b);
    return difference < 0n ? -1 : Number(difference > 0n);
  }
  return a < b ? -1 : Number(a > b);
}
