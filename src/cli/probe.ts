/** rekap probe: drafts a pipeline from a few requests to a service. */

import { usageError } from './options/usage-error.ts';
import { basename, resolve } from 'node:path';
import { declareCommand } from './options/option.ts';
import { allOptions, pick } from './options/all-options.ts';
import { readApiKey } from './options/api-key.ts';
import { renderProbe } from './print/print-probe.ts';
import { printWarning } from './print/terminal.ts';
import { findTrusted, loadChosenProject } from './project.ts';
import { withSignals } from './signals.ts';
import { draftProject, nameProject } from '../probe/draft.ts';
import { findDoubts, probe, type Probe } from '../probe/probe.ts';
import { writeDraft } from '../probe/write-draft.ts';
import type { Auth } from '../project/declaration.ts';
import { findCode, projectFile } from '../project/find-project.ts';
import { systemClock } from '../runtime/context.ts';

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
  async run(args, [url = '']) {
    const folder = args.project ?? (await findTrusted(undefined));
    const project = folder === null || findCode(folder, projectFile) === null ? null : await loadChosenProject(folder);
    const auth = args.auth === undefined ? (project?.auth ?? null) : readAuth(args.auth);
    const apiKey = await readApiKey(args['api-key-file'], auth);
    const found = await withSignals({}, (signal) =>
      probe({ url, auth, apiKey, clock: systemClock, signal, maxDuration: args['max-duration'] * 1000 }),
    );
    const into = folder ?? found.table.replaceAll('_', '-');
    const draft = draftProject(found, nameProject(basename(resolve(into))));
    const written = args['dry-run'] ? [] : await writeDraft(draft, { folder: into, origin: found.origin, project });
    return { found, draft, written, into, project };
  },
  toJson: ({ found, draft, written }) => ({ ...summarize(found), files: written, draft: draft.pipeline }),
  print({ found, draft, written, into, project }, args) {
    for (const doubt of findDoubts(found)) printWarning(`Check this before you sync: ${doubt}.`);
    if (args['dry-run']) return `${renderProbe(found)}\n${draft.pipeline}`;
    const keyFile = args['api-key-file'];
    const key = keyFile === undefined ? '' : ` --api-key-file ${keyFile}`;
    const here = into === '.' || project !== null ? '' : ` --project ${into}`;
    const source = project?.baseUrl === null ? ` --base-url ${found.origin}` : '';
    const isOther = project !== null && JSON.stringify(project.auth) !== JSON.stringify(found.auth);
    return [
      renderProbe(found),
      ...written.map((file) => `Wrote ${file}`),
      '',
      'Read the draft and correct what is wrong. Then:',
      ...(isOther ? ['  (declare `auth` in rekap.project.ts as you gave it with --auth)'] : []),
      `  rekap check${here}`,
      ...(draft.sample === null ? [] : [`  rekap test${here}`]),
      `  rekap sync${here}${source}${key}`,
      '',
    ].join('\n');
  },
});

function readAuth(text: string): Auth {
  const [kind = '', name = ''] = text.split(/:(.*)/);
  if (name === '' && kind === 'bearer') return { bearer: true };
  if (name === '' && kind === 'basic') return { basic: true };
  if (/^[\w-]+$/.test(name) && kind === 'header') return { header: name };
  if (/^[\w.[\]-]+$/.test(name) && kind === 'query') return { query: name };
  throw usageError(
    `--auth ${JSON.stringify(text)} is not a place for a key.`,
    'Use bearer, basic, header:x-api-key or query:token, with the name that the service expects.',
  );
}

function summarize({ requests, envelope, paging, partition, keys, columns, skipped, records }: Probe): object {
  const { paging: declaration, why, guesses, cap } = paging;
  return {
    requests,
    records: records.length,
    envelope,
    paging: { declaration, why, guesses, page_cap: cap?.size ?? null },
    partition,
    keys,
    columns: columns.map(({ name, definition, why: reason }) => ({ name, ...definition, why: reason })),
    skipped,
  };
}
