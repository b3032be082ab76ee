/** Reads the list of electoral districts that the sample is made for. */

/** One electoral district (district) and the regencies and cities that vote in it. */
export interface District {
  readonly dapilId: number;
  readonly dapilName: string;
  readonly seats: number;
  readonly province: string;
  readonly regencies: readonly string[];
}

/**
 * Reads districts from the text of data/reference/dapil-2024.json.
 *
 * @throws Error naming the entry that is not of that file's shape.
 */
export function parseDistricts(text: string): readonly District[] {
  const entries: unknown = JSON.parse(text);
  if (!Array.isArray(entries)) throw new Error('The list of districts is not a JSON array.');
  return entries.map((entry: unknown, index) => {
    const district = toDistrict(entry);
    if (district === null) throw new Error(`Entry ${index + 1} of the list of districts is incomplete or mistyped.`);
    return district;
  });
}

function toDistrict(entry: unknown): District | null {
  if (typeof entry !== 'object' || entry === null) return null;
  const { dapil_id, dapil_name, seats, province, regencies } = entry as Record<string, unknown>;
  if (!isPositive(dapil_id) || !isName(dapil_name) || !isPositive(seats) || !isName(province)) return null;
  if (!Array.isArray(regencies) || regencies.length === 0 || !regencies.every(isName)) return null;
  return { dapilId: dapil_id, dapilName: dapil_name, seats, province, regencies };
}

function isPositive(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
