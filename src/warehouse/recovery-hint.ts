/** What leads out where something in a warehouse is damaged: a text that needs no look at the warehouse. */

/** Where a snapshot is damaged, which is made again from the answers of the run `madeBy`. */
export function recoveryHint(damaged: string, madeBy = damaged): string {
  return `"rekap replay ${madeBy}" builds it again from its answers; "rekap snapshots list" shows others that you can go back to.`;
}

/** Where `current` is missing, or leads nowhere. */
export const currentHint =
  '"rekap replay" makes the newest run\'s snapshot current; "rekap snapshots list" shows others that you can go back to. Where there are none, remove current and snapshots, and run the sync again.';
