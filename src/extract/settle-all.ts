/** Waiting for several things that may fail. */

/** Waits for all, then throws the first failure: no task is left running behind an error's back. */
export async function settleAll<Value>(tasks: readonly (Promise<Value> | Value)[]): Promise<Value[]> {
  const settled = await Promise.allSettled(tasks);
  return settled.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
}
