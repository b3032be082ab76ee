/** Writes the files of a project from a probe. Each guess has its reason beside it. */

import type { DeclaredColumn } from '../project/declaration.ts';
import { ownTables, reconciliationName } from '../project/reserved.ts';
import { countOf } from '../runtime/text.ts';
import { type ProbedColumn, whySkipped } from './columns.ts';
import { findDoubts, type Probe } from './probe.ts';

export interface Draft {
  readonly table: string;
  /** Text of rekap.project.ts. */
  readonly project: string;
  /** Text of pipelines/<table>.ts. */
  readonly pipeline: string;
  /** Name and text of the sample, with the records that the probe read; null if JSON.parse rounds one of their numbers. */
  readonly sample: { readonly name: string; readonly text: string } | null;
}

export function draftProject(probe: Probe, name: string): Draft {
  const { baseUrl, path } = splitUrl(probe);
  const reserved = ownTables.has(probe.table) || probe.table === reconciliationName;
  const table = reserved ? `${probe.table}_list` : probe.table;
  return {
    table,
    project: projectText(probe, name, baseUrl),
    pipeline: pipelineText(probe, table, path),
    sample: sampleOf(probe, table),
  };
}

/** Returns a name for the project of a folder. */
export function nameProject(folder: string): string {
  const name = folder
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^[^a-z]+|-+$/g, '');
  return name === '' ? 'project' : name;
}

/** Segments that a path in a declaration can't have belong to the base URL. */
function splitUrl({ origin, path }: Probe): { readonly baseUrl: string; readonly path: string } {
  const parts = path.split('/').slice(1);
  const last = parts.findLastIndex((part) => !/^(?!\.{1,2}$)[\w.~-]+$/.test(part) && part !== '');
  const before = parts.slice(0, last + 1).map((part) => `/${part}`);
  return { baseUrl: origin + before.join(''), path: `/${parts.slice(last + 1).join('/')}` };
}

function projectText({ auth }: Probe, name: string, baseUrl: string): string {
  return [
    "import { defineProject } from 'rekap';",
    '',
    'export default defineProject({',
    `  name: ${quote(name)},`,
    `  baseUrl: ${quote(baseUrl)},`,
    ...(auth === null ? [] : [`  auth: ${literal(auth)},`]),
    '});',
    '',
  ].join('\n');
}

function pipelineText(probe: Probe, table: string, path: string): string {
  const { envelope, paging, partition, columns, skipped, parameters, keys, records } = probe;
  const key = keys[0];
  const count = envelope.reportedCount;
  const different = key?.different ?? 0;
  const whyKey =
    different === records.length
      ? `different in all ${records.length} records`
      : `Check this: only ${different} of ${records.length} records differ in it`;
  const kinds = new Set(columns.map((column) => column.definition.kind));
  const watched = columns.filter((column) => column.definition.kind === 'count').map(({ name }) => name);
  const doubts = findDoubts(probe);
  return [
    ...(doubts.length === 0 ? [] : [remark(`Check this before you sync: ${doubts.join('; ')}.`)]),
    `import { ${[...kinds, 'definePipeline'].toSorted().join(', ')} } from 'rekap';`,
    '',
    `// Drafted by "rekap probe" from ${countOf(records.length, 'record')}. Correct what is wrong, then run "rekap check".`,
    'export default definePipeline({',
    `  table: ${quote(table)},`,
    `  path: ${quote(path)},`,
    ...(Object.keys(parameters).length === 0 ? [] : [`  parameters: ${literal(parameters)},`]),
    paging.paging === null
      ? `  ${remark(`paging: declare how the list is paged; until then, "rekap check" refuses it (${paging.why}).`)}`
      : `  paging: ${literal(paging.paging)}, ${remark(paging.why)}`,
    ...(envelope.format === 'ndjson' ? ["  format: 'ndjson',"] : []),
    `  records: ${quote(envelope.records)}, ${remark(envelope.why)}`,
    ...(count === undefined ? [] : [`  reportedCount: ${quote(count.pointer)}, ${remark(`it was ${count.value}`)}`]),
    ...(partition === null
      ? []
      : [
          `  partition: ${literal({ parameter: partition.parameter, column: partition.column })}, ${remark(partition.why)}`,
        ]),
    '  columns: {',
    ...columns.map((column) => `    ${column.name}: ${columnText(column)}, ${remark(column.why)}`),
    ...skipped.map((field) => `    ${remark(`${field}: ${whySkipped}`)}`),
    '  },',
    `  key: ${literal(key?.columns ?? [columns[0]!.name])}, ${remark(whyKey)}`,
    ...(watched.length === 0
      ? []
      : [`  watch: ${literal(watched)}, ${remark('the gate compares these sums with the previous snapshot')}`]),
    '});',
    '',
  ].join('\n');
}

function columnText(column: ProbedColumn): string {
  const { kind, field, comment, ...given } = column.definition as DeclaredColumn & Values;
  const words = [quote(field), quote(comment!), ...(Object.keys(given).length === 0 ? [] : [literal(given)])];
  return `${kind}(${words.join(', ')})`;
}

/** Limits of a drafted sample. Trials don't need more records. */
const maxSample = { records: 1000, characters: 1e6 };

function sampleOf({ records, columns }: Probe, table: string): Draft['sample'] {
  const names = columns.find(({ definition }) => 'from' in definition && definition.from === 'name');
  const lines: string[] = [];
  let length = 0;
  for (const [at, record] of records.slice(0, maxSample.records).entries()) {
    const named = names === undefined ? record : { [names.definition.field]: names.values[at], ...record };
    const line = `  ${JSON.stringify(named)}`;
    length += line.length;
    if (lines.length > 0 && length > maxSample.characters) break;
    lines.push(line);
  }
  const text = `[\n${lines.join(',\n')}\n]\n`;
  const isRounded = (value: unknown): boolean =>
    typeof value === 'number'
      ? Math.abs(value) > Number.MAX_SAFE_INTEGER
      : typeof value === 'object' && value !== null && Object.values(value).some(isRounded);
  if (records.some(isRounded)) return null;
  return { name: `${table}.json`, text };
}

type Value = string | number | boolean | readonly string[] | undefined;
type Values = Readonly<Record<string, Value>>;

function literal(value: Value | Values | object): string {
  if (Array.isArray(value)) return `[${value.map((item) => quote(String(item))).join(', ')}]`;
  if (typeof value !== 'object') return typeof value === 'string' ? quote(value) : String(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  const nameOf = (name: string): string => (/^[A-Za-z_]\w*$/.test(name) ? name : quote(name));
  return `{ ${members.map(([name, member]) => `${nameOf(name)}: ${literal(member as Value)}`).join(', ')} }`;
}

/** Writes a comment on one line. Texts of the source could otherwise end it and become code. */
function remark(text: string): string {
  return `// ${text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, ' ')}`;
}

/** Writes a text as a literal on one line, without characters that could hide code in an editor. */
function quote(text: string): string {
  const escaped = JSON.stringify(text)
    .slice(1, -1)
    .replaceAll('\\"', '"')
    .replaceAll("'", "\\'")
    .replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`);
  return `'${escaped}'`;
}
