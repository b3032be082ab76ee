/** Readers from Python, frictionless and dbt open every file of a snapshot (skipped unless `make readers` has installed them). */

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, expect, it } from 'vitest';
import { systemClock } from '../../src/runtime/context.ts';
import { doubtfulNation, inJson } from '../oracle/doubtful-nation.ts';
import { runSync, serveFolder } from '../support/served-source.ts';
import { syncOptions } from '../support/sync-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startTwistedSource } from '../support/twisted-source.ts';

const root = join(import.meta.dirname, '../..');
const python = join(root, 'node_modules/.cache/readers/bin/python');
beforeEach(({ skip }) => skip(!existsSync(python), 'make readers installs the readers'));

const sources = {
  'the sample': () => serveFolder(join(root, 'data/sample')),
  'a nation with every kind of doubt': () =>
    startTwistedSource(doubtfulNation(), (response, body) => response.end(inJson(body))),
};

it.each(Object.entries(sources))(
  'every reader finds the same in the snapshot of %s',
  async (_, start) => {
    const warehouse = await temporaryFolder();
    await runSync(syncOptions(warehouse, (await start()).url), { clock: systemClock });
    const read = promisify(execFile)(python, [join(root, 'test/readers/read.py'), join(warehouse, 'current')]);
    const { stdout } = await read.catch((error: { stdout: string }) => error);
    expect(stdout).not.toContain('BAD');
    for (const name of ['voters', 'datapackage.json', 'dbt build', 'dbt source freshness'])
      expect(stdout).toMatch(new RegExp(`^ok +${name}`, 'm'));
  },
  180_000,
);
