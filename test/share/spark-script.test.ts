/** The script for Spark of an example, compared with one whose rows "make test-spark" compares with rekap's. */

import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadProject } from '../../src/project/load-project.ts';
import { sparkText } from '../../src/share/spark/spark-text.ts';
import { sparkScript } from '../../src/share/spark/spark-script.ts';

const project = await loadProject(join(import.meta.dirname, '../../examples/polling-stations'));
const run = '20261120T030000Z-400000';

describe('a script for Spark', () => {
  it('of an example with a list, checks and a view is the known one', async () => {
    await expect(await sparkScript(project, run, 'rekap')).toMatchFileSnapshot('spark-script.sql');
  });

  it('is refused for a dataset with the name of a table that rekap adds', async () => {
    const pipelines = project.pipelines.map((pipeline) => ({ ...pipeline, table: 'ledger' }));
    const renamed = { ...project, pipelines, models: [], checks: [] };
    await expect(sparkScript(renamed, run, 'rekap')).rejects.toMatchObject({ code: 'usage' });
  });

  it('has no line of a text that spark-sql would skip as a comment', () => {
    expect(sparkText("a\r-- b\n-- 'c'\\")).toBe(String.raw`'a\r-- b\n-- \'c\'\\'`);
  });
});
