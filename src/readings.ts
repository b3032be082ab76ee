/**
 * The numbers that tell apart the requests of one run for the same page. They stand in every landing, and a replay asks by them for the
 * same answers: none may ever come to mean something else.
 */

/** How often a district is read before it counts as incomplete: its readings are 1 to this. */
export const maxReadings = 4;
export const firstReading = 1;
/** A district's first page, asked for before the list has come to its end. */
export const readAhead = 0;
/** A district asked for from its second record on. */
export const offsetProbe = 5;

/** The page of a district's reading that came empty, asked for once more. */
export function secondAsking(reading: number): number {
  return 10 + reading;
}

/** A district that was empty, or the list of all, asked for again when all others were read; `turn` counts from 0. */
export function lateAsking(turn: number): number {
  return 30 + turn;
}

/** The list of all districts, read a second time where it begins anew: its pages, and the probes of its offset and of its end. */
export const listReadings = [
  { pages: 0, probes: 1 },
  { pages: 2, probes: 3 },
] as const;

/** Whether a district's page read ahead and that of its first reading stand in for each other: which one a run asks for is a matter of time. */
export function isFirstOrAhead(reading: number): boolean {
  return reading === firstReading || reading === readAhead;
}
