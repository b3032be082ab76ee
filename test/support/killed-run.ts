/** What a run leaves whose process was killed: its responses, and no line in the log of runs. */

import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describedRun } from './landed.ts';

export const lastResponse = new Date('2026-11-22T03:00:30Z');

export async function addKilled(warehouse: string, run: string): Promise<void> {
  const landing = join(warehouse, 'landing', run);
  await mkdir(landing);
  await writeFile(join(landing, 'run.json'), JSON.stringify(describedRun({ run })));
  await writeFile(join(landing, 'responses.jsonl'), '');
  await utimes(join(landing, 'responses.jsonl'), lastResponse, lastResponse);
}
