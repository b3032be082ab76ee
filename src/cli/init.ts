/** rekap init: creates a config file, and files for a scheduler. */

import { usageError } from './options/usage-error.ts';
import { mkdir, readFile, realpath, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { userInfo } from 'node:os';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import * as v from 'valibot';
import { declareCommand } from './options/option.ts';
import { allOptions, pick } from './options/all-options.ts';
import { headerVariables, readApiKey } from './options/api-key.ts';
import { nameOption } from './options/invocation.ts';
import { loadChosenProject } from './project.ts';
import { fillIn, notNotified, type Places, type Schedule, scheduleNames, schedules } from './schedules.ts';
import { readUrl } from './send-notice.ts';
import { readBaseUrl } from '../source/base-url.ts';

const defaultKeyFile = 'api-key';

export const command = declareCommand({
  positionals: { scheduler: `scheduler to create files for: ${scheduleNames.join(', ')} [default: none]` },
  options: {
    ...pick('base-url', 'api-key-file', 'warehouse', 'project', 'ping-url', 'on-failure'),
    out: { ...allOptions.out, path: 'folder', default: '.', describe: 'output folder' },
  },
  examples: [
    ['rekap init --base-url https://host', 'create rekap.json'],
    ['rekap init --base-url https://host --api-key-file api-key', 'also set the file with your key'],
    ['rekap init systemd --base-url https://host', 'also create a service and a nightly timer'],
  ],
  ignoresConfig: true,
  async run(args, [scheduler]) {
    const { 'base-url': given, 'api-key-file': givenKey, warehouse, out: into, project: chosen } = args;
    const pingUrl = readUrl(args['ping-url']?.trim(), 'ping-url');
    const recipients = {
      ...(pingUrl !== null && { 'ping-url': pingUrl.href }),
      ...(args['on-failure'] !== undefined && { 'on-failure': args['on-failure'] }),
    };
    const [recipient] = Object.keys(recipients);
    const schedule = readScheduler(scheduler);
    const folder = resolve(into);
    const config = schedule === undefined || given !== undefined ? null : await readConfig(join(folder, 'rekap.json'));
    if (config !== null && recipient !== undefined)
      throw usageError(
        `${join(into, 'rekap.json')} already exists, so ${nameOption(recipient)} cannot be written to it.`,
        `Add "${recipient}" to the file, or move the file.`,
      );
    const project = config === null ? await loadChosenProject(chosen) : null;
    if (given === undefined && project?.baseUrl === null)
      throw usageError('The source is missing.', 'Add its URL with --base-url https://…');
    const key = (process.env['REKAP_API_KEY'] ?? '').trim();
    // A scheduler doesn't have the current environment.
    const hasKey = config === null && givenKey === undefined && key !== '';
    if (hasKey) await readApiKey(undefined);
    const keyFile = config === null ? (givenKey ?? (hasKey ? defaultKeyFile : undefined)) : config['api-key-file'];
    const packageFolder = dirname(createRequire(import.meta.url).resolve('rekap/package.json'));
    const schema = relative(folder, join(packageFolder, 'docs/reference/config.schema.json'));
    const places: Places = {
      node: process.execPath,
      cli: await realpath(process.argv[1]!),
      folder,
      warehouse: resolve(folder, config?.warehouse ?? warehouse),
      keyFile: resolve(folder, keyFile ?? defaultKeyFile),
      user: userInfo().username,
    };
    const planned: Schedule | null = schedule === undefined ? null : schedules[schedule];
    const files: Record<string, string> = {};
    if (config === null) {
      const settings = {
        $schema: schema,
        ...(given !== undefined && { 'base-url': readBaseUrl(given, project!.pipelines) }),
        ...(chosen !== undefined && { project: relative(folder, resolve(chosen)) || '.' }),
        warehouse,
        ...(keyFile === undefined ? {} : { 'api-key-file': keyFile }),
        ...recipients,
      };
      if (hasKey) files[defaultKeyFile] = `${key}\n`;
      files['rekap.json'] = `${JSON.stringify(settings, null, 2)}\n`;
    }
    for (const [file, source] of Object.entries(planned?.files ?? {})) {
      const text = fillIn(await readFile(join(packageFolder, 'deploy', source), 'utf8'), places);
      requirePlainPaths(text, places);
      files[file] = text;
    }
    for (const file of Object.keys(files))
      if (await stat(join(folder, file)).catch(() => null))
        throw usageError(`${join(into, file)} already exists.`, 'Move it, or choose another folder with --out.');
    for (const [file, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, file)), { recursive: true });
      const isSecret = file === defaultKeyFile || (file === 'rekap.json' && recipient !== undefined);
      const mode = isSecret ? 0o600 : 0o644;
      await writeFile(join(folder, file), text, { flag: 'wx', mode });
    }
    const isNotified = ['ping-url', 'on-failure', 'webhook'].some((name) => name in { ...config, ...recipients });
    const needsKey = project === null || project.auth !== null;
    const keyExists = (await stat(places.keyFile).catch(() => null)) !== null;
    const shownKey = isAbsolute(keyFile ?? '') ? keyFile : join(into, keyFile ?? defaultKeyFile);
    const lines = [
      ...(config !== null ? [`Kept ${join(into, 'rekap.json')}`] : []),
      ...Object.keys(files).map((file) => `Wrote ${join(into, file)}`),
      ...(recipient === undefined ? [] : [`Only you can read rekap.json: "${recipient}" can contain a secret.`]),
      ...(recipient === undefined || planned?.ifSet === undefined ? [] : [fillIn(planned.ifSet, places)]),
      ...(planned === null ? [] : ['', planned.when, ...(isNotified ? [] : [planned.ifUnset ?? `${notNotified}.`])]),
      '',
      ...(keyExists || !needsKey
        ? []
        : ['Save the key in a file that only you can read:', `  (umask 077; cat > ${shownKey})`]),
      ...(keyFile === undefined && needsKey ? [`Add "api-key-file": "${defaultKeyFile}" to rekap.json.`] : []),
      ...[...headerVariables(project?.pipelines ?? [])].map(
        (name) => `Put ${name}=value into ${join(into, 'rekap.env')}: the project sends it in a header.`,
      ),
      'Check that a sync can run:',
      into === '.' ? '  rekap doctor' : `  (cd ${into} && rekap doctor)`,
      ...(planned === null ? [] : ['Then enable it:', ...planned.enable.map((line) => `  ${fillIn(line, places)}`)]),
    ];
    return lines;
  },
  print: (lines) => `${lines.join('\n')}\n`,
});

function readScheduler(given: string | undefined): keyof typeof schedules | undefined {
  const name = scheduleNames.find((one) => one === given);
  if (name !== undefined || given === undefined) return name;
  const message = `Unknown scheduler ${JSON.stringify(given)}.`;
  throw usageError(message, `Use one of ${scheduleNames.join(', ')}.`);
}

const configShape = v.pipe(
  v.string(),
  v.parseJson(),
  v.looseObject({ warehouse: v.optional(v.string()), 'api-key-file': v.optional(v.string()) }),
);

async function readConfig(file: string): Promise<v.InferOutput<typeof configShape> | null> {
  const text = await readFile(file, 'utf8').catch(() => null);
  if (text === null) return null;
  const { success, output } = v.safeParse(configShape, text);
  if (!success) throw usageError(`${file} is not a valid config file.`, 'Correct it, or move it.');
  return output;
}

/** @throws `usage` if a path contains characters, such as spaces, that schedulers interpret differently. */
function requirePlainPaths(text: string, places: Places): void {
  const unsupported = Object.values(places).find((place) => text.includes(place) && !/^[\w./@+:-]+$/.test(place));
  if (unsupported === undefined) return;
  throw usageError(
    `${JSON.stringify(unsupported)} cannot be used in scheduler files: it contains characters other than letters, digits and ./@+:_-.`,
    'No files were created. Move rekap and its folder to a path without such characters, such as /srv/rekap.',
  );
}
