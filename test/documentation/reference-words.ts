/** What docs/reference/ says of files, their keys, variables and exit codes, which carry no words of their own. */

type Words = Readonly<Record<string, string>>;

export const exitMeanings: Words = {
  done: 'The command succeeded. After a sync, the figures are published, kept beside a pinned snapshot, or unchanged at the source.',
  unexpected:
    'An unexpected error, a full disk, output that cannot be written, a damaged snapshot, or responses that a replay cannot use.',
  usage: 'An invalid option, argument or setting, or a warehouse that cannot be used.',
  gate: 'The quality gate refused to publish.',
  source: 'The source failed, or a partition is incomplete.',
  busy: 'Another sync or replay is using the warehouse, a program has the DuckDB file open for writing, or another publisher changed the catalog first.',
  stale: '`rekap status` only: the last success is older than `--max-age`.',
  lastFailed: '`rekap status` only: the data is fresh, but the last sync, push or publication to a catalog failed.',
  bucket:
    'A push, a pull or a `lake` command failed. The current snapshots of the bucket and the warehouse are unchanged, and so are the tables of the catalog, unless the message says that their state is unknown.',
  hungUp: 'The terminal was closed.',
  interrupted: 'Interrupted, such as by Ctrl-C.',
  killed:
    'A query exceeded the memory limit or `--max-duration`, and rekap had to kill its process. In `rekap runs`, also a run that was killed.',
  terminated: 'Terminated, such as by `kill`.',
};

export const otherVariables: Words = {
  REKAP_API_KEY:
    'The API key for `sync`, unless you use `--api-key-file`. It takes precedence over `api-key-file` in the config file. You cannot give the key as an option.',
  REKAP_API_KEYS: 'The API keys that `serve` accepts, separated by commas, unless you use `--api-keys-file`.',
  REKAP_CATALOG_TOKEN: 'The bearer token for the catalog.',
  REKAP_CATALOG_CREDENTIAL: '`CLIENT_ID:CLIENT_SECRET` for the catalog, for OAuth 2.',
  REKAP_CATALOG_OAUTH_URL: 'The URL that returns tokens for OAuth 2. Default: `/v1/oauth/tokens` of the catalog.',
  REKAP_CATALOG_SCOPE: 'The scope of these tokens. Default: `PRINCIPAL_ROLE:ALL`.',
  REKAP_WEBHOOK_SECRET: 'The secret that signs the requests of `--webhook` (HMAC-SHA256).',
  TZ: 'The time zone of `rekap schedule --cron`, such as `Asia/Jakarta`. Default: the time zone of the machine.',
  REKAP_DEBUG: 'Set it to 1 to see the stack trace of an unexpected error.',
  AWS_ENDPOINT_URL_S3: 'The URL of an object store other than AWS, for buckets.',
  AWS_PROFILE:
    'The profile with the credentials for buckets. The AWS SDK also reads `AWS_ACCESS_KEY_ID` and its other variables.',
  NODE_EXTRA_CA_CERTS: 'A file with additional certificates that Node trusts.',
  NO_COLOR: 'Set it to disable colors.',
  FORCE_COLOR: 'Set it to 1 to print colors even if the output goes to a pipe.',
};

export const fileMeanings: Words = {
  current: 'A link to the current snapshot. A sync replaces it in one rename.',
  pinned: 'A link to the snapshot that a rollback pinned. While it exists, syncs do not change `current`.',
  lock: 'The lock of a running sync. It does not contain data.',
  'runs.jsonl': 'One line per run: how it ended, and why.',
  'snapshots/<id>/rekap.duckdb': 'All tables and views. Open it read-only.',
  'snapshots/<id>/parquet/<table>/<table>.parquet':
    'One table: zstd, sorted by its key, signed integers and UTF-8 text.',
  'snapshots/<id>/report.html': 'The report of the snapshot: one page, which does not load anything from the network.',
  'snapshots/<id>/datapackage.json': 'The files, columns and keys of the snapshot, as a Frictionless data package.',
  'snapshots/<id>/dbt/sources.yml':
    'The same files and columns as sources for dbt-duckdb, with tests of the keys and freshness.',
  'snapshots/<id>/manifest.json':
    'The contents of the snapshot: counts, sums, a verdict per partition, a SHA-256 per file.',
  'snapshots/<id>/manifest.json.sha256': 'The SHA-256 of the manifest, for `sha256sum -c`.',
  'landing/<run>/run.json': 'The settings of the run.',
  'landing/<run>/responses.jsonl': 'Each response: URL, time, status, SHA-256, and its position in `bodies.gz`.',
  'landing/<run>/bodies.gz': 'The responses as received, compressed.',
  'landing/<run>/verdicts.jsonl':
    'The verdict of each partition, and the records that were accepted from each response.',
};

const ledger: Words = {
  fetched: 'Records fetched: published + quarantined + duplicates.',
  published: 'Records published as rows.',
  quarantined: 'Records in quarantine.',
  duplicates: 'Records that are identical to another record.',
};

const verdict: Words = {
  dataset: 'Table.',
  listed: 'Records of the partition in the full listing.',
  read_at: 'When the partition was last read (UTC).',
  content:
    'Fingerprint of the keys and values of its records, in any order. A sync whose fingerprints are all as before builds nothing.',
  complete: 'Whether the partition is proved complete.',
  received: 'Records received for the partition.',
  pages: 'Pages of these records.',
  readings: 'Passes over the partition listing.',
  reason: 'Why the partition is incomplete, or null; in `runs.jsonl`, why the run did not succeed, or an empty string.',
  partition: 'ID of the partition.',
  proof: "How rekap found the end: from the partition's pages, from the full listing, or not at all.",
  grade:
    'How strong the proof is: `overlap`, `repaged`, `rechained`, `repeated`, `chain` or `single`, the strongest first; null without a proof.',
  name: 'Name of the partition in the records, if the declaration says which column has it.',
  end: 'What showed the end of the list: `empty page`, `status` (204, 404, 410 or 416 behind the last page), `null` (the last page says that none follows), `missing` (the last page names none, but others did), `hasMore`, `total`, `body` (one intact response) or `listing`. Missing in older files.',
  page_sizes:
    'Records of the longest page in each pass that agreed. If they differ, the passes sent different requests. Missing in older files.',
  window: 'The window, if only what changed was read. Missing otherwise.',
  'window.since': 'Value of the parameter in its requests.',
  'window.grade': 'Grade of the proof of the window itself.',
  run: 'The run that read the list. Missing in a landing.',
};

function below(path: string, words: Words): Words {
  return Object.fromEntries(Object.entries(words).map(([key, meaning]) => [`${path}${key}`, meaning]));
}

const file: Words = {
  path: 'Path in the folder of the snapshot or the run.',
  bytes: 'Size in bytes.',
  rows: 'Rows, or null for a file that is not a table.',
  sha256: 'SHA-256 in hexadecimal digits.',
};

export const keyMeanings: Words = {
  ...verdict,
  format: 'Version of the file format.',
  snapshot: 'ID of the snapshot; in `runs.jsonl`, of the current snapshot after the run.',
  run: 'ID of the run. Its responses are in `landing/<run>`.',
  created_at: 'When the run started (UTC).',
  tool: 'The program that wrote the file.',
  'tool.name': 'Its name.',
  'tool.version': 'Its version.',
  source: 'Base URL of the source, or `sample`.',
  previous: 'ID of the previous snapshot, or null.',
  previous_history: 'SHA-256 of the changes table of the previous snapshot, or null.',
  datasets: 'The datasets, by table.',
  'datasets.<dataset>': 'The figures of one dataset.',
  'datasets.<dataset>.ledger': 'Number of fetched records by outcome.',
  ...below('datasets.<dataset>.ledger.', ledger),
  'datasets.<dataset>.carried_over': 'Rows carried over from the previous snapshot.',
  'datasets.<dataset>.rows': 'Rows in the table, published and carried over.',
  'datasets.<dataset>.quarantine_content': 'Fingerprint of the records in quarantine. Missing after a partial sync.',
  'datasets.<dataset>.quarantined': 'Records in quarantine, including carried-over records.',
  'datasets.<dataset>.changes': 'Differences from the previous snapshot.',
  'datasets.<dataset>.changes.added': 'New records.',
  'datasets.<dataset>.changes.removed': 'Records that no longer exist.',
  'datasets.<dataset>.changes.changed': 'Records with a changed value.',
  'datasets.<dataset>.reading': 'How the dataset was read. Missing in snapshots of earlier releases.',
  'datasets.<dataset>.reading.scope':
    '`whole`, or a part: `window` (what changed), `partitions` (some of them) or `nothing`. Other rows are carried over.',
  'datasets.<dataset>.reading.from': 'Snapshot that the carried-over rows come from, or null.',
  'datasets.<dataset>.reading.whole_at': 'When the run began that read the whole list last.',
  'datasets.<dataset>.reading.runs': 'Runs whose landings contain the records of the rows, the oldest first.',
  'datasets.<dataset>.reading.missed':
    'Records whose changes the windows since then could not show. Missing unless the whole list was read after windows.',
  'datasets.<dataset>.reading.missed.added': 'New records with an earlier cursor than the windows had.',
  'datasets.<dataset>.reading.missed.removed': 'Records that no longer exist.',
  'datasets.<dataset>.reading.missed.changed':
    'Records with a changed value and an earlier cursor than the windows had.',
  'datasets.<dataset>.partitions': 'One verdict per partition.',
  ...below('datasets.<dataset>.partitions[].', verdict),
  'datasets.<dataset>.violations': 'Violations by check.',
  'datasets.<dataset>.violations.<check>': 'Number of violations of the check.',
  'datasets.<dataset>.sums': 'Sum of each count column, as a string of digits.',
  'datasets.<dataset>.sums.<column>': 'Sum of the column.',
  'datasets.<dataset>.nulls': 'Null values by column.',
  'datasets.<dataset>.nulls.<column>': 'Number of null values in the column.',
  'datasets.<dataset>.schema_fingerprint': 'SHA-256 of the names, types and order of the columns.',
  'datasets.<dataset>.definition':
    'SHA-256 of all that determines its rows: its declaration and the rules of rekap. Rows are carried over only if it is the same.',
  project:
    'The declaration of the project, as in [Declarations](declarations.md). Commands that read the file go by it.',
  definition: 'SHA-256 of the whole declaration and the rules of rekap.',
  violation_ages: 'Violations by severity and age.',
  'violation_ages.<severity>': 'Violations of this severity.',
  'violation_ages.<severity>.new': 'Violations that the previous snapshot does not have. In a first snapshot, 0.',
  'violation_ages.<severity>.resolved': 'Violations only in the previous snapshot.',
  'violation_ages.<severity>.standing':
    'Violations that the previous snapshot also has. In a first snapshot, all violations.',
  warnings: 'The warnings of the run.',
  files: 'The files of the snapshot.',
  ...below('files[].', file),
  landing: 'The files of `landing/<run>`.',
  ...below('landing[].', file),
  kind: '`sync`, `replay`, `push`, `pull` or `lake`.',
  bucket: 'The bucket of a push or pull, or the URL of the catalog.',
  started_at: 'When the run started (UTC).',
  finished_at: 'When the run finished (UTC).',
  outcome:
    '`published`, `held` (built, but another snapshot is pinned), `unchanged` (nothing new at the source), `reproduced` (by a replay), `dry run`, `pushed`, `pulled`, `refused`, `failed` or `interrupted`.',
  exit_code: 'The exit code. It distinguishes a refusal of the gate (3) from a busy warehouse (5).',
  steps: 'Milliseconds of each step.',
  'steps.<step>': 'Milliseconds of the step.',
  rows: 'Rows of each table.',
  'rows.<table>': 'Number of rows in the table.',
  quarantined: 'Records in quarantine, by table.',
  'quarantined.<table>': 'Number of records in quarantine for the table.',
  requests: 'Number of requests.',
  retries: 'Number of retries.',
  statuses: 'Responses by HTTP status.',
  'statuses.<status>': 'Number of responses with the status.',
  base_url: 'Base URL of the source.',
  strict: 'Whether `--strict` was given.',
  refuse: 'What `--refuse` named, or null.',
  accept_changes: 'Whether `--accept-changes` was given.',
  accept_source: 'Whether `--accept-source` was given.',
  dry_run: 'Whether `--dry-run` was given.',
  partitions: 'Requested partitions, or null for all.',
  page_size: 'Records per request.',
  offset: 'Position of the first record of the page.',
  limit: 'Requested number of records.',
  url: 'URL of the request.',
  at: 'When the response arrived (UTC).',
  status: 'HTTP status.',
  bytes: 'Bytes of the response; in `runs.jsonl`, bytes of all responses of the run.',
  sha256: 'SHA-256 of the response.',
  position: 'Position of its compressed bytes in `bodies.gz`.',
  length: 'Number of compressed bytes.',
  accepted: 'The accepted pages: number of the response, first record, number of records.',
  verdicts: 'Number of verdicts before this line.',
};

/** Keys whose values another page describes. */
export const describedElsewhere: ReadonlySet<string> = new Set(['project']);

/** Names that stand for any dataset, check or column. */
export const openKeys: Words = {
  datasets: '<dataset>',
  violations: '<check>',
  violation_ages: '<severity>',
  steps: '<step>',
  statuses: '<status>',
  rows: '<table>',
  quarantined: '<table>',
  sums: '<column>',
  nulls: '<column>',
};
