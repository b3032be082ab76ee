/** rekap check: validates the declarations of a project, and runs its SQL on empty tables. */

import { declareCommand } from './options/option.ts';
import { pick } from './options/all-options.ts';
import { loadChosenProject } from './project.ts';
import { countOf } from '../runtime/text.ts';

export const command = declareCommand({
  options: pick('project', 'json'),
  examples: [
    ['rekap check', 'check the project in this folder'],
    ['rekap check --project my-project', 'check another project'],
  ],
  async run({ project: folder, json }) {
    const project = await loadChosenProject(folder);
    const [{ checkSample }, { requireSql }, { printJson, warningText }] = await Promise.all([
      import('../diagnose/check-sample.ts'),
      import('../load/try-sql.ts'),
      import('./print/terminal.ts'),
    ]);
    await requireSql(project, project.files);
    for (const warning of await checkSample(project)) process.stderr.write(warningText(warning, process.stderr));
    const { name, title, pipelines, models, checks } = project;
    const datasets = pipelines.map(({ table }) => table);
    if (json)
      return printJson({
        project: name,
        datasets,
        views: models.map((model) => model.name),
        checks: checks.map((check) => check.name),
      });
    const counts = [
      countOf(datasets.length, 'dataset'),
      countOf(models.length, 'view'),
      countOf(checks.length, 'SQL check'),
    ];
    process.stdout.write(`${title} (${name}) is valid: ${counts.join(', ')}.\nDatasets: ${datasets.join(', ')}\n`);
  },
});
