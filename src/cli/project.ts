/** Loads the project of a command, and renames --partition as the project declares. */

import type { Command, Options } from './options/option.ts';
import { isRekapError, RekapError } from '../errors.ts';
import type { LoadedProject } from '../project/load-project.ts';

export const projectOption = {
  project: {
    type: 'string',
    path: 'folder',
    describe: 'folder with rekap.project.ts',
    defaultDescription: 'the nearest one above the working directory, else the bundled project',
  },
} as const satisfies Options;

export async function loadChosenProject(given: string | undefined): Promise<LoadedProject> {
  const { loadProject } = await import('../project/load-project.ts');
  return loadProject(await findTrusted(given));
}

/** @throws `configuration` if the user didn't name the project, and other users could have written its code. */
export async function findTrusted(given: string | undefined): Promise<string | null> {
  const { findProject } = await import('../project/find-project.ts');
  const folder = findProject(given ?? null, process.cwd());
  if (folder === null || given !== undefined) return folder;
  const { listLoaded } = await import('../project/project-files.ts');
  const { whyUntrusted } = await import('./options/find-config.ts');
  for (const path of await listLoaded(folder)) {
    const why = await whyUntrusted(path);
    if (why !== null)
      throw new RekapError(
        'configuration',
        `The project in ${folder} is not used, because ${path} ${why}, and its code would run.`,
        'If you trust it, add --project with this folder.',
      );
  }
  return folder;
}

/** Finds the module that renders the report of a project; null if its code isn't available, or it has no report. */
export async function findReportModule(given: string | undefined, name: string): Promise<string | null> {
  const { loadProject } = await import('../project/load-project.ts');
  for (const find of [() => findTrusted(given), async () => null])
    try {
      const project = await loadProject(await find());
      if (project.name === name) return project.reportModule;
    } catch (error) {
      // A project with errors must not prevent reading a published snapshot.
      if (!isRekapError(error, 'pipeline-definition', 'configuration') || given !== undefined) throw error;
    }
  return null;
}

/** Renames --partition to the name that the project declares: in the help, the environment and the config file. */
export async function withPartitionOption(command: Command): Promise<Command> {
  const { readPartitionOption } = await import('../project/find-project.ts');
  const at = process.argv.findIndex((arg) => arg === '--project' || arg.startsWith('--project='));
  const given = at < 0 ? process.env['REKAP_PROJECT'] : (process.argv[at]!.split('=')[1] ?? process.argv[at + 1]);
  // Problems of the project are reported when it is loaded.
  const name = await findTrusted(given)
    .then(readPartitionOption)
    .catch(() => 'partition');
  const rename = (key: string): string => (key === 'partition' ? name : key);
  const renamed = Object.entries(command.options).map(([key, option]) => [rename(key), option] as const);
  const restore = <Args extends object>(args: Args): Args => ({
    ...args,
    partition: (args as Record<string, unknown>)[name],
  });
  const { cannotBegin } = command;
  return {
    ...command,
    options: Object.fromEntries(renamed),
    examples: (command.examples ?? []).map(([line, what]) => [line.replace('--partition', `--${name}`), what]),
    run: (args, positionals) => command.run(restore(args), positionals),
    ...(cannotBegin !== undefined && { cannotBegin: (args, error) => cannotBegin.call(command, restore(args), error) }),
  };
}
