/** rekap check: validates the declarations of a project, and runs its SQL on empty tables. */

import { declareCommand } from './options/option.ts';
import { pick } from './options/all-options.ts';
import { printWarning } from './print/terminal.ts';
import { loadChosenProject } from './project.ts';
import { checkSample } from '../diagnose/check-sample.ts';
import { requireSql } from '../load/try-sql.ts';
import { countOf } from '../runtime/text.ts';

export const command = declareCommand({
  options: pick('project', 'json'),
  examples: [
    ['rekap check', 'check the project in this folder'],
    ['rekap check --project my-project', 'check another project'],
  ],
  async run({ project: folder }) {
    const project = await loadChosenProject(folder);
    await requireSql(project, project.files);
    for (const warning of await checkSample(project)) printWarning(warning);
    return project;
  },
  toJson: ({ name, pipelines, models, checks }) => ({
    project: name,
    datasets: pipelines.map(({ table }) => table),
    views: models.map((model) => model.name),
    checks: checks.map((check) => check.name),
  }),
  print({ name, title, pipelines, models, checks }) {
    const counts = [
      countOf(pipelines.length, 'dataset'),
      countOf(models.length, 'view'),
      countOf(checks.length, 'SQL check'),
    ];
    const datasets = pipelines.map(({ table }) => table);
    return `${title} (${name}) is valid: ${counts.join(', ')}.\nDatasets: ${datasets.join(', ')}\n`;
  },
});
