/** Verifying a published snapshot: the manifest itself, the tables, and the responses as far as they are kept. */

import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { verifyPublished } from '../../src/snapshots/manage-snapshots.ts';
import { runHere } from '../support/run-here.ts';
import { runReplay } from '../support/run-replay.ts';
import { publishedNation } from '../support/prepared-snapshots.ts';

const prepared = publishedNation();

async function published() {
  const { warehouse, known } = await prepared();
  const [run] = known;
  return {
    warehouse,
    run,
    manifest: join(warehouse, 'snapshots', run, 'manifest.json'),
    landing: join(warehouse, 'landing', run),
    verify: async (id = run) => verifyPublished(warehouse, id),
  };
}

/** What no hash in the manifest covers, and no table shows. */
const edits: [string, RegExp, string][] = [
  ['created_at', /("created_at": "20)\d\d/, '$133'],
  ['the time of reading', /("read_at": "20)\d\d/, '$133'],
  ['a number of records received', /("received": )\d/, '$19'],
];

describe('verifying a published snapshot', () => {
  it('finds nothing where it and its responses are whole', async () => {
    const { verify } = await published();
    expect(await verify()).toMatchObject({ problems: [], responses: 'kept' });
  });

  it.each(edits)(
    'names a manifest in which %s is another, and a replay compares nothing with it',
    async (_, from, to) => {
      const { warehouse, manifest, verify } = await published();
      const text = await readFile(manifest, 'utf8');
      await writeFile(manifest, text.replace(from, to));
      expect(await readFile(manifest, 'utf8')).not.toBe(text);
      expect((await verify()).problems).toEqual(['manifest.json: its SHA-256 does not match manifest.json.sha256']);
      await expect(runReplay(warehouse, { acceptSource: true })).rejects.toMatchObject({ code: 'verification' });
    },
  );

  it.each(['run.json', 'responses.jsonl', 'bodies.gz'])('names its responses where %s is another', async (name) => {
    const { run, landing, verify } = await published();
    const bytes = await readFile(join(landing, name));
    bytes[bytes.length >> 1]! ^= 1;
    await writeFile(join(landing, name), bytes);
    const { problems, responseProblems, responses, next } = await verify();
    expect({ problems, responses }).toEqual({ problems: [], responses: 'damaged' });
    expect(responseProblems[0]).toContain(`landing/${run}: ${name}`);
    expect(next).not.toContain('rekap replay');
  });

  it('knows that responses which retention has removed are no damage, and says so', async () => {
    const { warehouse, landing, verify } = await published();
    const kept = await runHere(['snapshots', 'verify', '--warehouse', warehouse]);
    expect(kept.stdout).toContain('The stored responses of its run are the ones that it was built from');
    await rm(landing, { recursive: true });
    expect(await verify()).toMatchObject({ problems: [], responses: 'gone' });
    const { code, stdout } = await runHere(['snapshots', 'verify', '--warehouse', warehouse]);
    expect([code, stdout]).toEqual([0, expect.stringContaining('are no longer stored')]);
  });
});
