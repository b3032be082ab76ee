/** rekap doctor: checks that a sync can run here, and explains how to fix problems. */

import { declareCommand, type Values } from './options/option.ts';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { dirname } from 'node:path';
import { loadChosenProject, projectOption } from './project.ts';
import { notifyOptions } from './options/notify-options.ts';
import { jsonOption, warehouseOption } from './options/shared.ts';
import { hasRecipients, readNotices } from './notify-others.ts';
import { ExitCode, RekapError, systemReason } from '../errors.ts';
import { readBaseUrl } from '../source/base-url.ts';
import { syncDefaults } from '../run-options.ts';
import { systemClock } from '../runtime/context.ts';

export const doctorCommand = declareCommand({
  options: {
    ...warehouseOption,
    'base-url': {
      type: 'string',
      describe: 'URL of the service; without any, only this machine is checked',
      defaultDescription: 'the one that the project declares',
    },
    'api-key-file': {
      type: 'string',
      describe: 'file with the API key',
      defaultDescription: 'the key in REKAP_API_KEY',
    },
    'page-size': {
      type: 'number',
      range: [2, 100_000],
      default: syncDefaults.pageSize,
      describe: 'records per request',
    },
    push: { type: 'string', describe: 's3://bucket/prefix that a sync pushes to' },
    timeout: {
      type: 'number',
      range: [1, 3600],
      default: 30,
      describe: 'maximum seconds per request',
    },
    ...projectOption,
    ...notifyOptions,
    ...jsonOption,
  },
  examples: [
    ['rekap doctor --base-url https://host', 'before the first sync, or after a failed one'],
    ['rekap doctor', 'check only this machine'],
  ],
  async run(args) {
    const [{ examine }, { printJson, paint, printable }, { readApiKey }, { widthOf, wrap }] = await Promise.all([
      import('../diagnose.ts'),
      import('./print/terminal.ts'),
      import('./options/api-key.ts'),
      import('./print/wrap-text.ts'),
    ]);
    const project = await loadChosenProject(args.project);
    const file = args['api-key-file'];
    const { auth } = project;
    const isSet = (variable: string | undefined): boolean => (process.env[variable ?? ''] ?? '') !== '';
    const hasKey = auth === null || file !== undefined || isSet('REKAP_API_KEY') || isSet(auth.variable);
    const given = args['base-url'] ?? project.baseUrl;
    const findings = [];
    for await (const finding of examine({
      project,
      warehouse: args.warehouse,
      baseUrl: given === null ? null : readBaseUrl(given, project.pipelines),
      apiKey: hasKey ? await readApiKey(file, auth) : null,
      pageSize: args['page-size'],
      timeout: args.timeout * 1000,
      clock: systemClock,
      node: process.versions.node,
      keyFile: file ?? null,
      readNotices: hasRecipients(args) ? () => checkNotices(args) : null,
      readBucket: args.push === undefined ? null : () => readBucket(args.push!),
    })) {
      findings.push(finding);
      if (args.json) continue;
      const mark = {
        ok: paint('green', 'ok     '),
        warning: paint('yellow', 'warning'),
        failed: paint('red', 'failed '),
      };
      process.stdout.write(`${mark[finding.state]}  ${finding.about.padEnd(10)} ${printable(finding.found)}\n`);
      const indent = ' '.repeat(20);
      if (finding.next !== null)
        for (const line of wrap(finding.next, widthOf(process.stdout) - indent.length))
          process.stdout.write(`${indent}${line}\n`);
    }
    if (args.json) printJson(findings);
    else if (given === null) process.stdout.write('The service was not checked. To check it, add --base-url.\n');
    const failed = findings.filter(({ state }) => state === 'failed').map(({ about }) => about);
    if (failed.length === 0) return ExitCode.done;
    return failed.some((about) => ['service', 'response', 'partition'].includes(about))
      ? ExitCode.source
      : failed.every((about) => about === 'bucket')
        ? ExitCode.bucket
        : ExitCode.usage;
  },
});

async function readBucket(url: string): Promise<string | null> {
  const [{ withBucket }, { readCurrentObject }] = await Promise.all([
    import('./use-bucket.ts'),
    import('../share/current-object.ts'),
  ]);
  return withBucket(url, 'reading', async (bucket) => (await readCurrentObject(bucket))?.snapshot ?? null);
}

/** @throws `usage` if an option is invalid, or the metrics file isn't writable, of which a sync only warns. */
async function checkNotices(args: Values<typeof notifyOptions & typeof warehouseOption>): Promise<void> {
  await readNotices({ ...args, 'log-format': 'auto' });
  const file = args['metrics-file'];
  if (file === undefined) return;
  await access(dirname(file), constants.W_OK).catch((error: unknown) => {
    const message = `The folder of the metrics file ${file} is not writable: ${systemReason(error)}.`;
    throw new RekapError('usage', message, 'Create the folder or change its permissions, or correct --metrics-file.', {
      cause: error,
    });
  });
}
