/** The manifest's own hash lies beside it: any other byte in either of the two is found. */

import { execFile } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { writeManifest } from '../../src/publish/manifest.ts';
import { checkManifestFile, verifySnapshot } from '../../src/publish/verify-snapshot.ts';
import { datasetOf, manifestOf, verdictOf } from '../support/manifests.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const manifest = manifestOf({ datasets: { voters: datasetOf({ districts: [verdictOf()] }) } });
const names = ['manifest.json', 'manifest.json.sha256'];

async function written(): Promise<string> {
  const folder = await temporaryFolder();
  expect(await writeManifest(folder, manifest)).toEqual(names);
  return folder;
}

describe('the hash of a manifest', () => {
  it('is one that sha256sum checks', async () => {
    const { stdout } = await promisify(execFile)('sha256sum', ['-c', names[1]!], { cwd: await written() });
    expect(stdout).toBe('manifest.json: OK\n');
  });

  it.each(names)('shows every byte of %s that is another', async (name) => {
    const folder = await written();
    const file = join(folder, name);
    const bytes = await readFile(file);
    for (let at = 0; at < bytes.length; at += 1) {
      const altered = Buffer.from(bytes);
      altered[at]! ^= 1 << (at % 8);
      await writeFile(file, altered);
      expect(await checkManifestFile(folder), `byte ${at}`).toEqual([expect.stringContaining('manifest.json')]);
    }
    await writeFile(file, bytes);
    expect(await checkManifestFile(folder)).toEqual([]);
  });

  it.each(names)('is named where %s is missing, by the verification of a snapshot too', async (name) => {
    const folder = await written();
    await rm(join(folder, name));
    expect(await checkManifestFile(folder)).toEqual([`${name}: is missing`]);
    expect(await verifySnapshot(folder, manifest, [])).toContain(`${name}: is missing`);
  });
});
