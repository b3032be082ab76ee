/** rekap new: creates a project with one dataset and its sample. */

import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';
import { declareCommand } from './options/option.ts';
import { nameProject } from '../probe/draft.ts';
import { ignoredFile, writeNew } from '../probe/write-draft.ts';

const files = ['rekap.project.ts', 'pipelines/stations.ts', 'sample/stations.json', 'report.ts'];

export const command = declareCommand({
  positionals: { folder: 'folder to create' },
  options: {},
  examples: [['rekap new my-project', 'create a project that syncs its own sample']],
  ignoresConfig: true,
  async run(_args, [folder = '']) {
    const template = join(dirname(createRequire(import.meta.url).resolve('rekap/package.json')), 'templates/project');
    const name = nameProject(basename(resolve(folder)));
    const drafts = files.map(async (path) => {
      const text = await readFile(join(template, path), 'utf8');
      return { path: join(folder, path), text: text.replace("name: 'my-project'", `name: '${name}'`) };
    });
    const ignored = { ...ignoredFile, path: join(folder, ignoredFile.path) };
    return { folder, written: await writeNew([...(await Promise.all(drafts)), ignored]) };
  },
  print: ({ folder, written }) => `${written.map((path) => `Wrote ${path}\n`).join('')}
Try it with its sample:
  cd ${folder}
  rekap check
  rekap sync --sample
  rekap test
Then replace the dataset with one of your service:
  rekap probe https://host/v1/list
`,
});
