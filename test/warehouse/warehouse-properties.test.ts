/** Any text of a manifest and any target of `current` is either usable or refused by name. */

import fc from 'fast-check';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve, sep } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { pipelines } from '../support/bundled.ts';
import { renderSnapshot } from '../../src/cli/print/show-snapshot.ts';
import { isRekapError, RekapError } from '../../src/errors.ts';
import { checkGate } from '../../src/publish/gate.ts';
import { holdsSameTables } from '../../src/publish/manifest.ts';
import { verifySnapshot } from '../../src/publish/verify-snapshot.ts';
import { readCurrent, readCurrentId, readSnapshot } from '../../src/warehouse/warehouse.ts';
import { datasetOf, manifestOf, snapshotId as id, verdictOf } from '../support/manifests.ts';
import { holds } from '../support/properties.ts';

const dataset = datasetOf({ partitions: [verdictOf()], violations: { malformed: 1 }, nulls: { grand_total: 0 } });
const manifest = manifestOf({
  datasets: { voters: dataset, voting_rights_users: dataset },
  warnings: ['a warning'],
  landing: [{ path: 'responses.jsonl', bytes: 1, rows: null, sha256: '00' }],
  files: [
    { path: 'rekap.duckdb', bytes: 1, rows: null, sha256: '00' },
    { path: 'parquet/voters/voters.parquet', bytes: 1, rows: 1, sha256: '00' },
  ],
});

let warehouse: string;
let folder: string;

beforeAll(async () => {
  warehouse = await mkdtemp(join(tmpdir(), 'rekap-warehouse-'));
  folder = join(warehouse, 'snapshots', id);
  await mkdir(folder, { recursive: true });
});
afterAll(() => rm(warehouse, { recursive: true, force: true }));

const pathNames = fc
  .array(fc.constantFrom('..', '.', '/', '\\', 'parquet', 'a', ' ', '\0', '~', 'C:', '\u2024\u2024'), { maxLength: 6 })
  .map((parts) => parts.join(''));
const replacement = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom<unknown>(undefined, null, 0, 1.5, -1, 1e300, '', 'x', true, [], {}, [null], [[]], {
      a: 1,
    }),
  },
  { weight: 2, arbitrary: pathNames },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
);

/** The manifest with one to three of its parts, large or small, left out or replaced. */
const mutated = fc.array(fc.tuple(fc.nat(), replacement), { minLength: 1, maxLength: 3 }).map((changes) => {
  const whole: Part = { manifest: JSON.parse(JSON.stringify(manifest)) };
  for (const [choice, value] of changes) {
    const places = placesIn(whole);
    const [part, name] = places[choice % places.length]!;
    // A copy: a later change may reach into it, and chance gives the same value again.
    part[name] = structuredClone(value);
  }
  return whole['manifest'];
});
const manifestTexts = fc.oneof(
  { weight: 6, arbitrary: mutated.map((value) => JSON.stringify(value) ?? '') },
  {
    weight: 1,
    arbitrary: fc.nat(JSON.stringify(manifest).length).map((length) => JSON.stringify(manifest).slice(0, length)),
  },
  { weight: 1, arbitrary: fc.json() },
  { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
);

type Part = Record<string, unknown>;

/** Every member of every object and array in a value, as its owner and its name. */
function placesIn(value: unknown): [Part, string][] {
  if (typeof value !== 'object' || value === null) return [];
  const names = Object.keys(value);
  return names.flatMap((name): [Part, string][] => [[value as Part, name], ...placesIn((value as Part)[name])]);
}

/** The result, or the error of rekap that refuses; any other error is thrown. */
async function orRefusal<Value>(read: Promise<Value>): Promise<Value | RekapError> {
  try {
    return await read;
  } catch (error) {
    if (isRekapError(error, 'warehouse', 'snapshot-not-found')) return error;
    throw error;
  }
}

describe('a manifest', () => {
  let accepted = 0;

  holds(
    'is read unchanged, with files in its folder and parts that commands can use, or is refused by name',
    fc.asyncProperty(manifestTexts, async (text) => {
      await writeFile(join(folder, 'manifest.json'), text);
      const snapshot = await orRefusal(readSnapshot(warehouse, id));
      if (snapshot instanceof RekapError) return;
      accepted += 1;
      expect(snapshot).toEqual({ id, folder, manifest: JSON.parse(text) as unknown });
      for (const { path } of snapshot.manifest.files)
        expect(resolve(folder, path).startsWith(folder + sep), path).toBe(true);
      expect(renderSnapshot(snapshot)).toContain(id);
      const problems = await verifySnapshot(folder, snapshot.manifest);
      expect(problems.every((problem) => typeof problem === 'string')).toBe(true);
      const input = {
        pipelines,
        checks: [],
        manifest,
        previous: snapshot.manifest,
        requested: [],
        reports: new Map(),
        brokenChecks: [],
        requireProof: null,
        strict: true,
        refuse: null,
      };
      expect(checkGate({ ...input, acceptChanges: false, refused: {} }).changes.join(' ')).not.toMatch(
        /undefined|null|NaN/,
      );
      expect(typeof holdsSameTables(manifest, snapshot.manifest)).toBe('boolean');
    }),
    { runs: 150, afterwards: ({ cases }) => expect(accepted).toBeGreaterThanOrEqual(cases < 200 ? 0 : cases / 50) },
  );
});

describe('the link `current`', () => {
  const target = fc
    .array(
      fc.constantFrom('snapshots', id, '/', '..', '.', '.building-', 'latest', '\n', ' ', 'é', id.toUpperCase(), '0'),
      { minLength: 1, maxLength: 5 },
    )
    .map((parts) => parts.join(''));
  const targets = fc.oneof(
    target,
    fc.constant(`snapshots/${id}`),
    target.map((rest) => `snapshots/${rest}`),
  );

  holds(
    'names a snapshot exactly as publishing writes it, or is refused by name',
    fc.asyncProperty(targets, async (to) => {
      const link = join(warehouse, 'current');
      await rm(link, { force: true });
      await symlink(to, link);
      const found = await orRefusal(readCurrentId(warehouse));
      if (to === `snapshots/${id}`) expect(found).toBe(id);
      else if (typeof found === 'string') expect(to).toMatch(/^snapshots\/\d{8}T\d{6}Z-[0-9a-f]{6}$/);
      else expect(found).toMatchObject({ code: 'warehouse' });
      await orRefusal(readCurrent(warehouse));
    }),
    { runs: 60 },
  );
});
