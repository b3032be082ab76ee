/** Declares all options, as data. Commands pick from them, and the names of variables and config files are checked against them. */

import type { Options, Values } from './option.ts';
import { languages } from '../../project/sql-file.ts';
import { syncDefaults } from '../../publish/run.ts';
import { grades } from '../../stages.ts';

/** A week in seconds. */
const week = 604_800;

export const allOptions = {
  // The source
  'base-url': {
    type: 'string',
    describe: 'URL of the service, such as https://host or https://host/path',
    defaultDescription: 'the one that the project declares',
  },
  sample: { type: 'boolean', describe: 'use the sample figures of the project, from a local service' },
  'api-key-file': { type: 'string', describe: 'file with the API key', defaultDescription: 'the key in REKAP_API_KEY' },
  project: {
    type: 'string',
    path: 'folder',
    describe: 'folder with rekap.project.ts',
    defaultDescription: 'the nearest one above the working directory, else the bundled project',
  },
  auth: {
    type: 'string',
    describe: 'where to send the key: bearer, basic, header:NAME or query:NAME',
    defaultDescription: 'as the project declares; without a project, no key is sent',
  },
  partition: { type: 'array', describe: 'only these partitions; a sync carries the others over' },
  dataset: { type: 'array', describe: 'only these datasets; a sync carries the others over' },
  concurrency: {
    type: 'number',
    range: [1, 64],
    default: syncDefaults.concurrency,
    describe: 'maximum concurrent requests',
  },
  'page-size': { type: 'number', range: [2, 100_000], default: syncDefaults.pageSize, describe: 'records per request' },
  timeout: {
    type: 'number',
    range: [1, 3600],
    default: syncDefaults.timeout / 1000,
    describe: 'maximum seconds per attempt',
  },
  'max-duration': {
    type: 'number',
    range: [1, week],
    default: syncDefaults.maxDuration / 1000,
    describe: 'maximum seconds for the whole run',
  },
  resume: {
    type: 'boolean',
    describe:
      'continue from the pages of a sync that was interrupted or failed within the last hour; the full listing is always read again',
  },

  // The quality gate
  'require-proof': {
    type: 'string',
    choices: grades,
    describe: 'minimum proof of completeness; refuse to publish if the proof of a list is weaker',
  },
  strict: {
    type: 'boolean',
    describe: 'refuse to publish if a check of severity error fails or a record is in quarantine',
  },
  refuse: {
    type: 'string',
    choices: ['new-errors'],
    describe: 'refuse to publish if errors or records in quarantine are new since the previous snapshot',
  },
  'accept-changes': {
    type: 'boolean',
    describe: 'publish even if partitions disappeared or shrank, or totals changed significantly',
  },
  'accept-source': { type: 'boolean', describe: 'allow the target to switch to another source' },
  'dry-run': { type: 'boolean', describe: 'show what would be written, without writing it' },
  unpin: { type: 'boolean', describe: 'remove the pin of a rollback and make the new snapshot current' },

  // The warehouse
  warehouse: { type: 'string', path: 'folder', default: 'data/warehouse', describe: 'warehouse folder' },
  snapshot: { type: 'string', describe: 'ID of the snapshot', defaultDescription: 'the current snapshot' },
  keep: { type: 'number', range: [1, 10_000], default: syncDefaults.keep, describe: 'snapshots to keep' },
  'keep-landing': {
    type: 'number',
    range: [0, 10_000],
    describe: 'runs whose responses to keep',
    defaultDescription: 'the value of --keep, and the runs of all kept snapshots',
  },
  memory: {
    type: 'number',
    range: [64, 1_000_000],
    describe: 'megabytes of memory for building tables; with less, large tables take longer',
    defaultDescription: '192, or more for over 6 million rows or long texts',
  },

  // Output
  json: { type: 'boolean', describe: 'print one JSON document instead of text' },
  format: { type: 'string', choices: ['table', 'csv', 'json'], describe: 'output format', defaultDescription: 'table' },
  out: { type: 'string', describe: 'output file' },
  param: { type: 'array', nargs: 1, describe: 'value of a query parameter, such as code=11 for $code' },
  column: { type: 'array', describe: 'only these columns' },
  lang: { type: 'string', choices: languages, default: 'en', describe: 'language: English (en) or Indonesian (id)' },
  'max-age': { type: 'string', default: '26h', describe: 'maximum age of the last success, such as 26h or 2d' },
  'log-format': {
    type: 'string',
    choices: ['auto', 'text', 'json'],
    default: 'auto',
    describe: 'log format on stderr; auto shows progress bars on a terminal and text elsewhere',
  },

  // Notifications and schedules
  'ping-url': {
    type: 'string',
    describe:
      "URL of a dead man's switch; rekap sends requests to URL/start before a sync, URL after a success, URL/fail after a failure",
  },
  'on-publish': {
    type: 'string',
    describe: 'command to run after a snapshot is published; it gets the run as JSON on stdin',
  },
  'on-failure': { type: 'string', describe: 'command to run after a sync that fails or is refused' },
  'metrics-file': {
    type: 'string',
    describe:
      'file for the textfile collector of the Prometheus node exporter, such as …/rekap.prom; replaced after each sync',
  },
  webhook: {
    type: 'string',
    describe: 'URL that gets each run as a POST request with JSON, signed with the secret in REKAP_WEBHOOK_SECRET',
  },
  cron: {
    type: 'string',
    describe: 'when to sync: minute, hour, day of the month, month, day of the week, in the time zone of the machine',
  },

  // Services
  host: { type: 'string', default: '127.0.0.1', describe: 'address to listen on' },
  port: { type: 'number', range: [0, 65_535], describe: 'port to listen on; 0 for any free port' },
  data: {
    type: 'string',
    path: 'folder',
    describe: 'folder with a JSON array of records per endpoint, such as list.json for /api/list',
  },
  'api-keys-file': {
    type: 'string',
    describe: 'file with one accepted API key per line',
    defaultDescription: 'the keys in REKAP_API_KEYS, separated by commas',
  },
  faults: { type: 'array', describe: 'faults to simulate, for testing a pipeline; "rekap serve --help" lists them' },

  // Buckets and catalogs
  push: { type: 'string', describe: 's3://bucket/prefix to push the snapshot to after each success' },
  lake: { type: 'boolean', describe: 'publish the snapshot to the Iceberg catalog after each success' },
  catalog: { type: 'string', describe: 'URL of an Iceberg REST catalog, without /v1' },
  'catalog-warehouse': {
    type: 'string',
    describe: 'name of the warehouse in the catalog',
    defaultDescription: "the catalog's own",
  },
  namespace: { type: 'string', default: 'rekap', describe: 'namespace of the tables in the catalog' },
  extensions: {
    type: 'string',
    path: 'folder',
    describe: "folder with DuckDB's extensions avro, httpfs and iceberg",
    defaultDescription: '~/.duckdb/extensions',
  },

  config: {
    type: 'string',
    describe: 'JSON file with options, such as { "base-url": "https://…" }',
    defaultDescription: 'rekap.json in the working directory, if it exists',
  },
} as const satisfies Options;

const { config: _config, ...fileOptions } = allOptions;
/** The options that a config file can contain. */
export { fileOptions };

type Name = keyof typeof allOptions;

/** Returns the declarations of some options, for a command. */
export function pick<const Names extends Name>(...names: readonly Names[]): Pick<typeof allOptions, Names> {
  return Object.fromEntries(names.map((name) => [name, allOptions[name]])) as Pick<typeof allOptions, Names>;
}

/** The warehouse option of commands that read a snapshot. */
export const readWarehouse = {
  warehouse: {
    ...allOptions.warehouse,
    path: 'folder or bucket',
    describe: 'warehouse folder, or s3://bucket/prefix of a pushed snapshot',
  },
} as const satisfies Options;

/** The options that say how a snapshot is built and when it is refused. */
export const publishOptions = pick('strict', 'refuse', 'accept-changes', 'accept-source', 'memory');

export function readPublishOptions(args: Values<typeof publishOptions>) {
  return {
    strict: args.strict,
    refuse: args.refuse ?? null,
    acceptChanges: args['accept-changes'],
    acceptSource: args['accept-source'],
    memory: args.memory === undefined ? undefined : args.memory * 1e6,
  };
}

export const notifyOptions = pick('ping-url', 'on-publish', 'on-failure', 'metrics-file', 'webhook');

/** Secrets and other settings that are only variables. */
export const otherVariables = [
  'REKAP_API_KEY',
  'REKAP_API_KEYS',
  'REKAP_CATALOG_TOKEN',
  'REKAP_CATALOG_CREDENTIAL',
  'REKAP_CATALOG_OAUTH_URL',
  'REKAP_CATALOG_SCOPE',
  'REKAP_WEBHOOK_SECRET',
  'REKAP_DEBUG',
  'REKAP_FAULT_SEEDS',
  // Commands such as --on-publish get these, and may run rekap.
  'REKAP_EVENT',
  'REKAP_RUN',
  'REKAP_REASON',
  'REKAP_EXIT_CODE',
];
