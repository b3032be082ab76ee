/** rekap new: creates a project with one dataset and its sample. */

import { declareCommand } from './options/option.ts';

const files = ['rekap.project.ts', 'pipelines/stations.ts', 'sample/stations.json', 'report.ts'];

export const command = declareCommand({
  positionals: { folder: 'folder to create' },
  options: {},
  examples: [['rekap new my-project', 'create a project that syncs its own sample']],
  ignoresConfig: true,
  async run(_args, [folder = '']) {
    const [{ readFile }, { createRequire }, { basename, dirname, join, resolve }, { nameProject }, { writeNew }] =
      await Promise.all([
        import('node:fs/promises'),
        import('node:module'),
        import('node:path'),
        import('../probe/draft.ts'),
        import('../probe/write-draft.ts'),
      ]);
    const template = join(dirname(createRequire(import.meta.url).resolve('rekap/package.json')), 'templates/project');
    const name = nameProject(basename(resolve(folder)));
    const texts = await Promise.all(files.map((path) => readFile(join(template, path), 'utf8')));
    const written = await writeNew([
      ...files.map((path, place) => ({
        path: join(folder, path),
        text: texts[place]!.replace("name: 'my-project'", `name: '${name}'`),
      })),
      { path: join(folder, '.gitignore'), text: 'api-key\ndata/\n' },
    ]);
    process.stdout.write(
      [
        ...written.map((path) => `Wrote ${path}`),
        '',
        'Try it with its sample:',
        `  cd ${folder}`,
        '  rekap check',
        '  rekap sync --sample',
        '  rekap test',
        'Then replace the dataset with one of your service:',
        '  rekap probe https://host/v1/list',
        '',
      ].join('\n'),
    );
  },
});
