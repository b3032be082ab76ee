/** Finds out how many files the system lets this process open, for each connection takes one. */

/** The bound on open files; null where the system has none or does not tell. */
export function readOpenFilesLimit(): number | null {
  try {
    // A report would otherwise look up the names of all network neighbours.
    Object.assign(process.report, { excludeNetwork: true });
    const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft?: unknown } } };
    const soft = Number(userLimits?.open_files?.soft);
    return Number.isInteger(soft) && soft > 0 ? soft : null;
  } catch {
    return null;
  }
}
