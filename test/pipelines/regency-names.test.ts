/** The check regency_names compares what people read: two names that look alike are one place, and two that do not are two. */

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { loadProject } from '../support/bundled.ts';
import { openDatabase, type Database } from '../../src/runtime/database.ts';
import { createTableSql, datasetTable } from '../../src/load/tables.ts';
import { holds } from '../support/properties.ts';

const { checks, pipelines } = loadProject();
const { sql } = checks.find(({ name }) => name === 'regency_names')!;

/** Spaces of every kind, characters of no width, controls and NUL. */
const unseen = Array.from(' \t\n\0\u00a0\u2009\u202f\u3000\u200b\u200c\u200d\u2060\ufeff\u00ad\u200e\u0085');

const names = fc.string({ unit: fc.constantFrom(...Array.from("KOTACAFÉñ-.'0")), minLength: 1, maxLength: 12 });

/** The name with such characters drawn in, in either normal form and case. */
const respelled = (name: string): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.array(fc.tuple(fc.constantFrom(...unseen), fc.nat(name.length)), { maxLength: 4 }),
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

  /** How many of these regencies, each in a province of its own spelling, the check finds in their partition. */
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
    'finds two spellings of a regency and its province that differ in nothing that is seen',
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
    { runs: 60 },
  );

  holds(
    'finds nothing in two names that differ in a character that is seen, wherever it is',
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
