/** The check regency_names treats names that look the same as one place, and other names as different places. */

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { loadProject } from '../support/bundled.ts';
import { openDatabase, type Database } from '../../src/runtime/database.ts';
import { createTableSql, datasetTable } from '../../src/load/tables.ts';
import { holds } from '../support/properties.ts';

const { checks, pipelines } = loadProject();
const { sql } = checks.find(({ name }) => name === 'regency_names')!;

/** Spaces of every kind, characters of no width, controls and NUL. */
const invisible = Array.from(' \t\n\0\u00a0\u2009\u202f\u3000\u200b\u200c\u200d\u2060\ufeff\u00ad\u200e\u0085');

const names = fc.string({ unit: fc.constantFrom(...Array.from("KOTACAFÉñ-.'0")), minLength: 1, maxLength: 12 });

/** The name with inserted invisible characters, in any normal form and case. */
const respelled = (name: string): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.array(fc.tuple(fc.constantFrom(...invisible), fc.nat(name.length)), { maxLength: 4 }),
      fc.constantFrom('NFC', 'NFD'),
      fc.boolean(),
    )
    .map(([drawn, form, isLower]) => {
      const letters = Array.from(name);
      for (const [character, place] of drawn) letters.splice(place, 0, character);
      const spelled = letters.join('').normalize(form);
      return isLower ? spelled.toLowerCase() : spelled;
    });

describe('the check regency_names', () => {
  let database: Database;

  beforeAll(async () => {
    database = await openDatabase(':memory:');
    for (const pipeline of pipelines) await database.run(createTableSql(datasetTable(pipeline)));
  });
  afterAll(() => database.close());

  /** Counts the regencies of a partition that the check finds. */
  async function found(places: readonly (readonly [regency: string, province: string])[]): Promise<number> {
    await database.run('DELETE FROM voters');
    for (const [regency, province] of places)
      await database.run(
        'INSERT INTO voters (election_year, election_type, dapil_id, dapil_name, province, regency) VALUES (2024, 1, 1101, $1, $2, $3)',
        ['ACEH I', province, regency],
      );
    return (await database.rows(sql)).length;
  }

  holds(
    'finds two spellings of a regency and its province that look the same',
    fc.asyncProperty(
      names.chain((name) => fc.tuple(fc.constant(name), respelled(name), respelled(name))),
      async ([name, regency, province]) => {
        fc.pre(name !== regency || name !== province);
        expect(
          await found([
            [name, name],
            [regency, province],
          ]),
        ).toBe(2);
      },
    ),
    { runs: 40 },
  );

  holds(
    'finds nothing if two names differ in a visible character',
    fc.asyncProperty(
      names.chain((name) => fc.tuple(fc.constant(name), respelled(name), fc.nat(name.length))),
      async ([name, respelling, place]) => {
        const other = Array.from(respelling).toSpliced(place, 0, 'x').join('');
        expect(
          await found([
            [name, 'ACEH'],
            [other, 'ACEH'],
          ]),
        ).toBe(0);
      },
    ),
    { runs: 30 },
  );
});
