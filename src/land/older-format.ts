/** Landings of the release before: they named partitions by numbers, and belong to the bundled project, for there was no other. */

import { loadProject } from '../project/load-project.ts';
import { storedPart } from '../project/stored.ts';
import { upgradeVerdict } from '../warehouse/read-manifest.ts';

type Fields = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}

/** run.json of format 2 as it would be written today; anything else as it is. */
export async function upgradeRunFile(value: unknown): Promise<unknown> {
  if (!isObject(value) || value['format'] !== 2) return value;
  const { districts, ...run } = value;
  const partitions = Array.isArray(districts) ? districts.map(String) : null;
  return { ...run, format: 3, partitions, project: storedPart(await loadProject()) };
}

/** The same of a line of answers.jsonl. */
export function upgradeAnswer(line: unknown): unknown {
  if (!isObject(line) || !('district' in line)) return line;
  const { district, offset: _offset, limit: _limit, ...answer } = line;
  return { ...answer, partition: typeof district === 'number' ? String(district) : null };
}

/** The same of a line of verdicts.jsonl. */
export function upgradeVerdictLine(line: unknown): unknown {
  if (!isObject(line) || !('district' in line)) return line;
  return upgradeVerdict(line as Parameters<typeof upgradeVerdict>[0]);
}
