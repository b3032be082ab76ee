/** What docs/reference/ says of files, their keys, variables and exit codes, which carry no words of their own. */

type Words = Readonly<Record<string, string>>;

export const exitMeanings: Words = {
  done: 'Published, or nothing had changed at the source.',
  unexpected:
    'An unexpected failure, a full disk, output that cannot be written, a damaged snapshot, or answers that a replay cannot use.',
  usage: 'A wrong option, argument or setting, or a warehouse that cannot be used.',
  gate: 'The quality gate refused to publish.',
  source: 'The source failed, or a district is incomplete.',
  busy: 'Another sync holds the warehouse, or a program has the DuckDB file open for writing.',
  stale: '`rekap status` only: the newest success is older than `--max-age`.',
  lastFailed: '`rekap status` only: the data are fresh enough, but the last sync or push failed.',
  bucket: 'A push or pull failed. What was current in the bucket and in the warehouse stays so.',
  hungUp: 'The terminal was closed.',
  interrupted: 'Interrupted, such as by Ctrl-C.',
  killed: 'A query took more than its memory or its `--max-duration` and could be ended in no other way.',
  terminated: 'Terminated, such as by `kill`.',
};

export const otherVariables: Words = {
  REKAP_API_KEY:
    'The API key for `sync`, if `--api-key-file` is not given. It wins over `api-key-file` in the config file. There is no option for the key itself.',
  REKAP_API_KEYS: 'The keys that `serve` accepts, separated by commas, where `--api-keys-file` is not given.',
  REKAP_DEBUG: 'Set it to 1 and an unexpected failure also says where in the code it happened.',
  AWS_ENDPOINT_URL_S3: 'The address of an object store other than AWS, for buckets.',
  AWS_PROFILE:
    'The profile with the credentials for buckets; like `AWS_ACCESS_KEY_ID` and all others, it is read by the AWS SDK.',
  OTEL_EXPORTER_OTLP_ENDPOINT:
    'The receiver of spans, such as `http://localhost:4318`. Set it, and a sync or replay sends its spans. rekap reads the other `OTEL_…` variables too.',
  NODE_EXTRA_CA_CERTS: 'A file with certificates that Node shall trust besides its own.',
  NO_COLOR: 'Set it to switch colours off.',
  FORCE_COLOR: 'Set it to 1 to have colours in a pipe too.',
};

export const fileMeanings: Words = {
  current: 'A link to the snapshot that readers get. One rename replaces it.',
  pinned: 'A link to the snapshot that a rollback has pinned: while it is there, syncs leave `current` as it is.',
  lock: 'The sync that is under way holds this file. It holds no data.',
  'runs.jsonl': 'One line per run: how it ended, and why.',
  'snapshots/<id>/rekap.duckdb': 'All tables and views. Open it for reading only.',
  'snapshots/<id>/parquet/<table>/<table>.parquet':
    'One table: zstd, sorted by its key, signed integers and UTF-8 text.',
  'snapshots/<id>/report.html': 'The report of the snapshot: one page for people, which asks the network for nothing.',
  'snapshots/<id>/datapackage.json': 'The files, columns and keys of the snapshot, as a Frictionless data package.',
  'snapshots/<id>/dbt/sources.yml': 'The same as sources for dbt-duckdb, with tests of the keys and freshness.',
  'snapshots/<id>/manifest.json': 'What the snapshot holds: counts, sums, a verdict per district, a SHA-256 per file.',
  'snapshots/<id>/manifest.json.sha256': 'The SHA-256 of the manifest, for `sha256sum -c`.',
  'landing/<run>/run.json': 'What the run was told to ask for.',
  'landing/<run>/answers.jsonl': 'Each answer: URL, time, status, SHA-256, and its place in `bodies.gz`.',
  'landing/<run>/bodies.gz': 'The answers as they came, compressed.',
  'landing/<run>/verdicts.jsonl': 'What was found of each district, and which records of which answers count.',
};

const ledger: Words = {
  fetched: 'Records fetched: the sum of the next three.',
  published: 'Records that became rows.',
  quarantined: 'Records in quarantine.',
  duplicates: 'Records that came again, equal to one that counts.',
};

const verdict: Words = {
  dataset: 'Table.',
  listed: 'Records of the district in the full listing.',
  read_at: 'When the district was last read (UTC).',
  complete: 'Whether the district is proved complete.',
  received: 'Records received for it.',
  pages: 'Pages they came on.',
  readings: 'How often it was read by itself.',
  reason: 'Why it is incomplete, or null.',
  district: 'Id of the district.',
  proof: 'How it was proved.',
};

function below(path: string, words: Words): Words {
  return Object.fromEntries(Object.entries(words).map(([key, meaning]) => [`${path}${key}`, meaning]));
}

const file: Words = {
  path: 'Path below the folder of the snapshot or the run.',
  bytes: 'Size in bytes.',
  rows: 'Rows, or null for a file that is no table.',
  sha256: 'SHA-256 in hexadecimal digits.',
};

export const keyMeanings: Words = {
  ...verdict,
  format: 'Version of the file’s form.',
  snapshot: 'Id of the snapshot; in `runs.jsonl`, the one that was current after the run.',
  run: 'Id of the run. Its answers are in `landing/<run>`.',
  created_at: 'When the run began (UTC).',
  tool: 'The program that wrote the file.',
  'tool.name': 'Its name.',
  'tool.version': 'Its version.',
  source: 'Base URL of the source, or `sample`.',
  previous: 'Id of the snapshot before, or null.',
  previous_history: 'SHA-256 of the table of changes that the run went on from, or null.',
  datasets: 'The datasets, by table.',
  'datasets.<dataset>': 'What was found of one dataset.',
  'datasets.<dataset>.ledger': 'Where every fetched record went.',
  ...below('datasets.<dataset>.ledger.', ledger),
  'datasets.<dataset>.carried_over': 'Rows taken over from the snapshot before.',
  'datasets.<dataset>.rows': 'Rows in the table: published and carried over.',
  'datasets.<dataset>.quarantined': 'Records in quarantine, with those carried over.',
  'datasets.<dataset>.changes': 'What differs from the snapshot before.',
  'datasets.<dataset>.changes.added': 'Records that came.',
  'datasets.<dataset>.changes.removed': 'Records that went.',
  'datasets.<dataset>.changes.changed': 'Records with another figure or text.',
  'datasets.<dataset>.districts': 'One verdict per district.',
  ...below('datasets.<dataset>.districts[].', verdict),
  'datasets.<dataset>.violations': 'Violations by check.',
  'datasets.<dataset>.violations.<check>': 'How many.',
  'datasets.<dataset>.sums': 'Sum of each count, as digits.',
  'datasets.<dataset>.sums.<column>': 'The sum.',
  'datasets.<dataset>.nulls': 'Unknown figures by column.',
  'datasets.<dataset>.nulls.<column>': 'How many.',
  'datasets.<dataset>.schema_fingerprint': 'SHA-256 over names, types and order of the columns.',
  definition: 'SHA-256 over tables, views and checks. Another value means another rekap or other views.',
  violation_ages: 'Violations by severity and age.',
  'violation_ages.<severity>': 'Of this severity.',
  'violation_ages.<severity>.new': 'Those that the snapshot before did not have.',
  'violation_ages.<severity>.resolved': 'Those that only the snapshot before had.',
  'violation_ages.<severity>.standing': 'Those that both have.',
  warnings: 'What the run warned of.',
  files: 'The files of the snapshot.',
  ...below('files[].', file),
  landing: 'The files of `landing/<run>`.',
  ...below('landing[].', file),
  kind: '`sync`, `replay`, `push` or `pull`.',
  bucket: 'Where a push went, or a pull came from.',
  started_at: 'When the run began (UTC).',
  finished_at: 'When it ended (UTC).',
  outcome:
    '`published`, `held` (built, but another snapshot is pinned), `unchanged` (nothing new at the source), `reproduced` (by a replay), `dry run`, `pushed`, `pulled`, `refused`, `failed` or `interrupted`.',
  exit_code: 'The exit code. It tells a refusal of the gate (3) from a busy warehouse (5).',
  steps: 'Milliseconds of each step.',
  'steps.<step>': 'How many.',
  rows: 'Rows of each table of what was built.',
  'rows.<table>': 'How many.',
  quarantined: 'Records in quarantine of each table of what was built.',
  'quarantined.<table>': 'How many.',
  requests: 'Requests sent.',
  retries: 'Requests sent again.',
  statuses: 'Answers by their HTTP status.',
  'statuses.<status>': 'How many.',
  base_url: 'Address that was asked.',
  strict: 'Whether `--strict` was given.',
  refuse: 'What `--refuse` named, or null.',
  accept_changes: 'Whether `--accept-changes` was given.',
  accept_source: 'Whether `--accept-source` was given.',
  dry_run: 'Whether `--dry-run` was given.',
  districts: 'Districts that were asked for, or null for all.',
  page_size: 'Records asked for at a time.',
  offset: 'Record at which the page begins.',
  limit: 'Records asked for.',
  url: 'The URL.',
  at: 'When the answer came (UTC).',
  status: 'HTTP status.',
  bytes: 'Bytes of the answer.',
  sha256: 'SHA-256 of the answer.',
  position: 'Where its compressed bytes begin in `bodies.gz`.',
  length: 'How many compressed bytes it has.',
  accepted: 'The pages that count: number of the answer, first record, number of records.',
  verdicts: 'Lines before this one.',
};

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
