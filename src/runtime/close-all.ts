/** Closes several things, all of them, also where one cannot be closed. */

/** What can be closed; null where there was nothing to open. */
type Closable = { close(): Promise<void> } | null;

/** Closes one after the other, in this order; then throws the first failure, if there was one. */
export async function closeAll(things: readonly Closable[]): Promise<void> {
  const failures: unknown[] = [];
  for (const thing of things) await thing?.close().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

/** What `open` gives; where it fails, the things that were opened before it are closed, and its error is the one that counts. */
export async function orClose<Value>(things: readonly Closable[], open: () => Promise<Value>): Promise<Value> {
  try {
    return await open();
  } catch (error) {
    await closeAll(things).catch(() => undefined);
    throw error;
  }
}
