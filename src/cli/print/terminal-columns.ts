/** How wide a terminal is. */

/** Columns of the terminal that a stream is; null where it is none or says no width, such as 0 in some containers. */
export function terminalColumns({ isTTY, columns }: NodeJS.WriteStream): number | null {
  return isTTY && columns > 0 ? columns : null;
}
