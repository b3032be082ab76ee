/** The script for Spark of an example, compared with one whose rows "make test-spark" compares with rekap's. */

import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadProject } from '../../src/project/load-project.ts';
import { sparkScript } from '../../src/share/spark/spark-script.ts';

it('writes the known script for an example with a list, checks and a view', async () => {
  const project = await loadProject(join(import.meta.dirname, '../../examples/polling-stations'));
  const script = await sparkScript(project, '20261120T030000Z-400000', 'rekap');
  await expect(script).toMatchFileSnapshot('spark-script.sql');
});
