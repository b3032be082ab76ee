/** Upgrades landings of the previous release, which numbered partitions and had only the bundled project. */

import { loadProject } from '../project/load-project.ts';
import { storedPart } from '../project/stored.ts';
import { upgradeVerdict } from '../warehouse/read-manifest.ts';

type Fields = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}

export async function upgradeRunFile(value: unknown): Promise<unknown> {
  if (!isObject(value) || value['format'] !== 2) return value;
  const { districts, ...run } = value;
  const partitions = Array.isArray(districts) ? districts.map(String) : null;
  return { ...run, format: 3, partitions, project: storedPart(await loadProject()) };
}

export function upgradeResponse(line: unknown): unknown {
  if (!isObject(line) || !('district' in line)) return line;
  const { district, offset: _offset, limit: _limit, ...response } = line;
  return { ...response, partition: typeof district === 'number' ? String(district) : null };
}

export function upgradeVerdictLine(line: unknown): unknown {
  if (!isObject(line) || !('district' in line)) return line;
  return upgradeVerdict(line as Parameters<typeof upgradeVerdict>[0]);
}
