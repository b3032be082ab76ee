/** rekap doctor: checks that a sync can run here, and explains how to fix problems. */

import { usageError } from './options/usage-error.ts';
import { declareCommand, type Values } from './options/option.ts';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type allOptions, notifyOptions, pick } from './options/all-options.ts';
import { readApiKey } from './options/api-key.ts';
import { invocation } from './options/invocation.ts';
import { readValue } from './options/option-values.ts';
import { readSettings } from './options/settings.ts';
import { renderTable } from './print/table.ts';
import { paint, printable, writeOut } from './print/terminal.ts';
import { widthOf, wrap } from './print/wrap-text.ts';
import { loadChosenProject } from './project.ts';
import { examine } from '../diagnose/diagnose.ts';
import type { Finding } from '../diagnose/examine-service.ts';
import { command as sync } from './sync.ts';
import { hideCredentials } from '../runtime/text.ts';
import { hasRecipients, readNotices } from './notify-others.ts';
import { ExitCode, systemReason } from '../errors.ts';
import { readBaseUrl } from '../source/base-url.ts';
import { systemClock } from '../runtime/context.ts';

export const command = declareCommand({
  options: {
    ...pick('base-url', 'api-key-file', 'warehouse', 'project', 'page-size', 'timeout', 'push', 'json'),
    ...notifyOptions,
  },
  examples: [
    ['rekap doctor --base-url https://host', 'before the first sync, or after a failed one'],
    ['rekap doctor', 'check only this machine'],
  ],
  async run(args) {
    const project = await loadChosenProject(args.project);
    const file = args['api-key-file'];
    const { auth } = project;
    const isSet = (variable: string | undefined): boolean => (process.env[variable ?? ''] ?? '') !== '';
    const hasKey = auth === null || file !== undefined || isSet('REKAP_API_KEY') || isSet(auth.variable);
    const url = args['base-url'] ?? project.baseUrl;
    const findings: Finding[] = [];
    for await (const finding of examine({
      project,
      warehouse: args.warehouse,
      baseUrl: url === null ? null : readBaseUrl(url, project.pipelines),
      apiKey: hasKey ? await readApiKey(file, auth, project.pipelines) : null,
      pageSize: args['page-size'],
      timeout: args.timeout * 1000,
      clock: systemClock,
      node: process.versions.node,
      keyFile: file ?? null,
      readNotices: hasRecipients(args) ? () => checkNotices(args) : null,
      readBucket: args.push === undefined ? null : () => readBucket(args.push!),
    })) {
      findings.push(finding);
      if (!args.json) await writeOut(renderFinding(finding));
    }
    return { findings, settings: await readSyncSettings(args), hasService: url !== null };
  },
  toJson: ({ findings, settings }) => ({ findings, settings }),
  print({ settings, hasService }) {
    const rows = settings.map(({ option, value, origin }) => [option, printable([value].flat().join(', ')), origin]);
    const table = renderTable(rows, { head: ['option', 'value', 'from'] });
    const note = hasService ? '' : 'The service was not checked. To check it, add --base-url.\n';
    return `\nSettings of a sync:\n${table}\n${note}`;
  },
  finish({ findings }) {
    const failed = findings.filter(({ state }) => state === 'failed').map(({ about }) => about);
    if (failed.length === 0) return ExitCode.done;
    if (failed.some((about) => ['service', 'response', 'partition'].includes(about))) return ExitCode.source;
    return failed.every((about) => about === 'bucket') ? ExitCode.bucket : ExitCode.usage;
  },
});

function renderFinding({ state, about, found, next }: Finding): string {
  const mark = paint(({ ok: 'green', warning: 'yellow', failed: 'red' } as const)[state], state.padEnd(7));
  const indent = ' '.repeat(20);
  const advice = next === null ? [] : wrap(next, widthOf(process.stdout) - indent.length);
  return [`${mark}  ${about.padEnd(10)} ${printable(found)}`, ...advice.map((line) => indent + line), ''].join('\n');
}

/** Returns the options of a sync that have a value here, as texts without secrets. */
async function readSyncSettings(args: Readonly<Record<string, unknown>>) {
  const { given } = await readSettings(sync, invocation.args);
  return Object.entries(sync.options).flatMap(([option, declared]) => {
    const { default: usual } = declared;
    const origin = invocation.origins[option] ?? (usual === undefined ? null : 'default');
    if (origin === null || option === 'json') return [];
    const value = origin === `--${option}` ? args[option] : (readValue(option, declared, given[option]) ?? usual);
    // The key may be in a variable instead of a file.
    const isSecret = value === undefined || option === 'ping-url' || option === 'webhook';
    const shown = typeof value === 'string' ? hideCredentials(value) : value;
    return [{ option, value: isSecret ? 'set, not shown' : shown, origin }];
  });
}

async function readBucket(url: string): Promise<string | null> {
  const [{ withBucket }, { readCurrentObject }] = await Promise.all([
    import('./use-bucket.ts'),
    import('../share/current-object.ts'),
  ]);
  return withBucket(url, 'reading', async (bucket) => (await readCurrentObject(bucket))?.snapshot ?? null);
}

/** @throws `usage` if an option is invalid, or the metrics file isn't writable, of which a sync only warns. */
async function checkNotices(args: Values<typeof notifyOptions & Pick<typeof allOptions, 'warehouse'>>): Promise<void> {
  await readNotices({ ...args, 'log-format': 'auto' });
  const file = args['metrics-file'];
  if (file === undefined) return;
  await access(dirname(file), constants.W_OK).catch((error: unknown) => {
    const message = `The folder of the metrics file ${file} is not writable: ${systemReason(error)}.`;
    throw usageError(message, 'Create the folder or change its permissions, or correct --metrics-file.', error);
  });
}
