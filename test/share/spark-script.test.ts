/** The script for Spark of an example, compared with one whose rows "make test-spark" compares with rekap's. */

import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AnyPipeline } from '../../src/project/declaration.ts';
import { integer, pattern, text } from '../../src/project/define.ts';
import { loadProject } from '../../src/project/load-project.ts';
import { sparkName, sparkText } from '../../src/share/spark/spark-text.ts';
import { sparkScript } from '../../src/share/spark/spark-script.ts';

const project = await loadProject(join(import.meta.dirname, '../../examples/polling-stations'));
const run = '20261120T030000Z-400000';

/** A text in Spark's SQL. A backslash escapes any character, and a text has no quotes inside otherwise. */
const literal = /'(?:[^'\\\n]|\\.)*'/g;

/** Returns what Spark reads from a text in SQL. */
function readLiteral(sql: string): string {
  const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r' };
  return sql
    .slice(1, -1)
    .replaceAll(/\\u([0-9a-f]{4})|\\(.)/g, (_, code?: string, character = '') =>
      code === undefined ? (escapes[character] ?? character) : String.fromCharCode(Number.parseInt(code, 16)),
    );
}

const hostile = [
  `it's`,
  `"'; DROP TABLE lake.rekap.voters; --`,
  '\\',
  String.raw`\'; DROP TABLE voters; --`,
  '`; DROP TABLE voters; --`',
  '\n-- a comment\n;',
  '\r\n-- a comment\r',
  '\0',
  '\u00001',
  '${env:HOME}',
  '/* a comment',
  String.raw`\u0027 \n \0`,
];

describe('a script for Spark', () => {
  it('of an example with a list, checks and a view is the known one', async () => {
    await expect(await sparkScript(project, run, 'rekap')).toMatchFileSnapshot('spark-script.sql');
  });

  it('is refused for a dataset with the name of a table that rekap adds', async () => {
    const pipelines = project.pipelines.map((pipeline) => ({ ...pipeline, table: 'ledger' }));
    const renamed = { ...project, pipelines, models: [], checks: [] };
    await expect(sparkScript(renamed, run, 'rekap')).rejects.toMatchObject({ code: 'usage' });
  });

  it('sets how Spark reads texts and names', async () => {
    const script = await sparkScript(project, run, 'rekap');
    for (const setting of [
      'ansi.enabled = true',
      'ansi.doubleQuotedIdentifiers = true',
      'parser.escapedStringLiterals = false',
      'variable.substitute = false',
    ])
      expect(script).toContain(`\nSET spark.sql.${setting};\n`);
  });

  it('has the same statements whatever the fields and checks of the project contain', async () => {
    const scriptOf = async (word: string) => {
      const { partition: _, ...example } = project.pipelines[0]!;
      const pipeline: AnyPipeline = {
        ...example,
        table: 'odd',
        key: ['id'],
        watch: [],
        columns: { id: integer(word), value: text(word) },
        checks: [pattern('value', word, { name: word })],
      };
      return sparkScript({ ...project, pipelines: [pipeline], models: [], checks: [] }, run, 'rekap');
    };
    // No table could have a comment with a NUL.
    const given = hostile.join(' ').replaceAll('\0', '').concat('\\');
    const script = await scriptOf(given);
    expect(script.replaceAll(literal, "''")).toBe((await scriptOf('plain')).replaceAll(literal, "''"));
    expect(script.match(literal)!.map(readLiteral)).toContain(given);
  });

  it('quotes names and texts so that Spark reads them as they are', () => {
    for (const given of hostile) {
      expect(readLiteral(sparkText(given))).toBe(given);
      // spark-sql skips each line that begins with two hyphens, even in a text.
      expect(sparkText(given)).not.toMatch(/[\n\r\0]/);
      expect(sparkName(given).slice(1, -1).replaceAll('``', '')).not.toContain('`');
    }
  });
});
