/** Each check has a message in English and Indonesian with its column and field, which SQL and TypeScript fill in equally. */

import { describe, expect, it } from 'vitest';
import { loadProject } from './support/bundled.ts';
import { messageOf, type MessageParts } from '../src/load/check-messages.ts';
import { languages } from '../src/project/sql-file.ts';
import { load, user, voter } from './load/support.ts';

const project = loadProject();

/** A load that breaks every check except the two of names across partitions. */
async function broken() {
  const men = { JumlahPemilihLakiLakiDalamDPT: undefined };
  const { rows } = await load({
    voters: [
      [
        voter({ regency: 'A', dpt_total: '1', dptb_total: '1', dpk_total: '1', male_total: '1', female_total: '1' }),
        voter({ regency: 'B', dpt_male: 'x', dpt_female: '', dpt_total: '99999999999', grand_total: null as never }),
        { ...voter({ regency: 'C' }), ...men },
        voter({ regency: 'D' }),
        voter({ regency: 'D', dpk_male: '7' }),
        voter({ regency: 'kota e', dapil_name: 'X' }),
        voter({ regency: 'KOTA E' }),
        voter({ regency: 'F', dapil_name: 5 as never, dpt_male: '-5' }),
      ],
    ],
    voting_rights_users: [
      [user({ regency: 'A', dpt_male: '999999', dptb_male: '999999', dpk_male: '999999', male_total: '999999' })],
      [user({ regency: 'A', dapil_id: '1102' })],
    ],
  });
  return (await rows('FROM violations')) as unknown as (MessageParts & { message: string })[];
}

describe('a violation', () => {
  it('has the same message in the table and in a report', async () => {
    const violations = await broken();
    expect(new Set(violations.map(({ check_name }) => check_name)).size).toBeGreaterThanOrEqual(16);
    for (const violation of violations) expect(messageOf(project, violation, 'en')).toBe(violation.message);
  });

  it('explains a malformed value: not a number, too large, too small, or not text', async () => {
    const said = (await broken())
      .filter(({ check_name }) => check_name === 'malformed')
      .map(({ column_name, message }) => [column_name, message]);
    expect(said).toEqual(
      expect.arrayContaining([
        ['dpt_male', expect.stringMatching(/"x", which is not a whole number/)],
        ['dpt_total', expect.stringMatching(/"99999999999", which is more than 2,147,483,647/)],
        ['dpt_male', expect.stringMatching(/"-5", which is less than 0/)],
        ['dapil_name', expect.stringMatching(/"5", which is not valid text/)],
      ]),
    );
  });

  it('names its column and field in both languages', async () => {
    for (const violation of await broken()) {
      const { field } = project.pipelines.find(({ table }) => table === violation.dataset)!.columns[
        violation.column_name
      ] ?? { field: '' };
      const said = languages.map((language) => messageOf(project, violation, language));
      expect(new Set(said).size, violation.check_name).toBe(2);
      for (const text of said) {
        expect(text).toContain(field);
        expect(text).not.toMatch(/[{}]|undefined|null \(/);
      }
    }
  });
});
