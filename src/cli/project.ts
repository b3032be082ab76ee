/** The project that a command goes by, where it is not that of a snapshot. */

import type { Command, Options } from './options/option.ts';
import { isRekapError, RekapError } from '../errors.ts';
import type { LoadedProject } from '../project/load-project.ts';

/** Of commands that load the code of a project. */
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

/**
 * Finds the project at hand.
 *
 * @throws `configuration` if nobody named it and others could have written it: its code would run.
 */
async function findTrusted(given: string | undefined): Promise<string | null> {
  const { findProject, projectFileIn } = await import('../project/load-project.ts');
  const folder = findProject(given ?? null, process.cwd());
  if (folder === null || given !== undefined) return folder;
  const { whyUntrusted } = await import('./options/find-config.ts');
  for (const path of [folder, projectFileIn(folder)]) {
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

/** The module that draws the report of a project by its name; null where its code is not at hand, or it has none. */
export async function findReportModule(given: string | undefined, name: string): Promise<string | null> {
  const { loadProject } = await import('../project/load-project.ts');
  for (const find of [() => findTrusted(given), async () => null])
    try {
      const project = await loadProject(await find());
      if (project.name === name) return project.reportModule;
    } catch (error) {
      // A project that is being worked on keeps nobody from reading what was published.
      if (!isRekapError(error, 'pipeline-definition', 'configuration') || given !== undefined) throw error;
    }
  return null;
}

/**
 * The command with its option --partition under the name that the project at hand gives it, in the help, the environment and the config file
 * alike.
 */
export async function withPartitionOption(command: Command): Promise<Command> {
  const { readPartitionOption } = await import('../project/load-project.ts');
  const at = process.argv.findIndex((word) => word === '--project' || word.startsWith('--project='));
  const word = process.argv[at];
  const given = at < 0 ? process.env['REKAP_PROJECT'] : (word!.split('=')[1] ?? process.argv[at + 1]);
  // What is wrong with the project is said when it is loaded.
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
    run: (args, words) => command.run(restore(args), words),
    ...(cannotBegin !== undefined && { cannotBegin: (args, error) => cannotBegin.call(command, restore(args), error) }),
  };
}
