/** rekap probe: drafts a pipeline from a few requests to a service. */

import { declareCommand } from './options/option.ts';
import { allOptions, pick } from './options/all-options.ts';
import { findTrusted, loadChosenProject } from './project.ts';
import { RekapError } from '../errors.ts';
import type { Auth } from '../project/declaration.ts';
import type { Probe } from '../probe/probe.ts';
import type { LoadedProject } from '../project/load-project.ts';

export const command = declareCommand({
  positionals: { url: 'URL of the list, with the query parameters that it requires' },
  options: {
    ...pick('auth', 'api-key-file', 'dry-run', 'json'),
    project: {
      ...allOptions.project,
      describe: 'folder of the project to add the pipeline to; it is created if it does not exist',
      defaultDescription: 'the nearest one above the working directory, else a new folder named after the list',
    },
    'max-duration': { ...allOptions['max-duration'], default: 120 },
  },
  examples: [
    ['rekap probe https://host/v1/stations', 'draft a pipeline from at most 20 requests'],
    ['REKAP_API_KEY=… rekap probe https://host/v1/stations --auth bearer', 'send a key'],
    ['rekap probe "https://host/v1/stations?region=AA-1"', 'show a filter that splits the list'],
  ],
  ignoresConfig: true,
  async run(
    { auth: givenAuth, 'api-key-file': keyFile, 'max-duration': seconds, project: given, 'dry-run': isDry, json },
    [url = ''],
  ) {
    const [
      { findDoubts, probe },
      { draftProject, nameProject },
      { readApiKey },
      { systemClock },
      { listenForSignals },
      { writeDraft },
    ] = await Promise.all([
      import('../probe/probe.ts'),
      import('../probe/draft.ts'),
      import('./options/api-key.ts'),
      import('../runtime/context.ts'),
      import('./signals.ts'),
      import('../probe/write-draft.ts'),
    ]);
    const folder = await findFolder(given);
    const project = folder === null || !(await isProject(folder)) ? null : await loadChosenProject(folder);
    const auth = givenAuth === undefined ? (project?.auth ?? null) : readAuth(givenAuth);
    const apiKey = await readApiKey(keyFile, auth);
    const { signal, stop } = listenForSignals();
    const options = { url, auth, apiKey, clock: systemClock, signal, maxDuration: seconds * 1000 };
    const found = await probe(options).finally(stop);
    const into = folder ?? found.table.replaceAll('_', '-');
    const { basename, resolve } = await import('node:path');
    const draft = draftProject(found, nameProject(basename(resolve(into))));
    const written = isDry ? [] : await writeDraft(draft, { folder: into, origin: found.origin, project });
    const { printJson, warningText } = await import('./print/terminal.ts');
    if (json) return printJson({ ...summarize(found), files: written, draft: draft.pipeline });
    const { printProbe } = await import('./print/print-probe.ts');
    printProbe(found);
    for (const doubt of findDoubts(found))
      process.stderr.write(warningText(`Check this before you sync: ${doubt}.`, process.stderr));
    if (isDry) return void process.stdout.write(`\n${draft.pipeline}`);
    process.stdout.write(
      `\n${written.map((file) => `Wrote ${file}\n`).join('')}${nextSteps(into, draft.sample !== null, { found, project })}`,
    );
  },
});

/** @returns Null for a new folder named after the list. */
async function findFolder(given: string | undefined): Promise<string | null> {
  return given ?? (await findTrusted(undefined));
}

async function isProject(folder: string): Promise<boolean> {
  const { findCode, projectFile } = await import('../project/find-project.ts');
  return findCode(folder, projectFile) !== null;
}

function readAuth(text: string): Auth {
  const [kind = '', name = ''] = text.split(/:(.*)/);
  if (name === '' && kind === 'bearer') return { bearer: true };
  if (name === '' && kind === 'basic') return { basic: true };
  if (/^[\w-]+$/.test(name) && kind === 'header') return { header: name };
  if (/^[\w.[\]-]+$/.test(name) && kind === 'query') return { query: name };
  throw new RekapError(
    'usage',
    `--auth ${JSON.stringify(text)} is not a place for a key.`,
    'Use bearer, basic, header:x-api-key or query:token, with the name that the service expects.',
  );
}

function nextSteps(
  folder: string,
  hasSample: boolean,
  { found, project }: { readonly found: Probe; readonly project: LoadedProject | null },
): string {
  const here = folder === '.' || project !== null ? '' : ` --project ${folder}`;
  const source = project !== null && project.baseUrl === null ? ` --base-url ${found.origin}` : '';
  const isOther = project !== null && JSON.stringify(project.auth) !== JSON.stringify(found.auth);
  return [
    '',
    'Read the draft and correct what is wrong. Then:',
    ...(isOther ? ['  (declare `auth` in rekap.project.ts as you gave it with --auth)'] : []),
    `  rekap check${here}`,
    ...(hasSample ? [`  rekap test${here}`] : []),
    `  rekap sync${here}${source}`,
    '',
  ].join('\n');
}

function summarize({ requests, envelope, paging, partition, keys, columns, skipped, records }: Probe): object {
  return {
    requests,
    records: records.length,
    envelope,
    paging: {
      declaration: paging.paging,
      why: paging.why,
      guesses: paging.guesses,
      page_cap: paging.cap?.size ?? null,
    },
    partition,
    keys,
    columns: columns.map(({ name, definition, why }) => ({ name, ...definition, why })),
    skipped,
  };
}
