/** Reads numbers whose source separates groups of digits, or writes a decimal comma. Which character means what is declared, never guessed. */

import type { Separator } from '../project/declaration.ts';

/** Returns the number without separators of groups; null if they aren't between groups of three digits. */
export function withoutGroups(text: string, group: Separator): string | null {
  const plain = group === ' ' ? text.replaceAll(/[\u00a0\u202f]/g, ' ') : text;
  if (!plain.includes(group)) return plain;
  const parts = plain.split(group);
  const isGrouped = parts.every((part, index) => (index === 0 ? /^-?[0-9]{1,3}$/ : /^[0-9]{3}$/).test(part));
  return isGrouped ? parts.join('') : null;
}

/** Returns a decimal number with a point and without groups; null if its separators aren't where they belong. */
export function withPoint(text: string, point: Separator, group: Separator | undefined): string | null {
  const [whole = '', fraction, ...more] = text.split(point);
  if (more.length > 0 || (fraction !== undefined && !/^[0-9]+$/.test(fraction))) return null;
  const plain = group === undefined ? whole : withoutGroups(whole, group);
  if (plain === null || !/^-?[0-9]+$/.test(plain)) return null;
  return fraction === undefined ? plain : `${plain}.${fraction}`;
}
