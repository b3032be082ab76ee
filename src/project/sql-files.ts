/** Reads the SQL files of a project: header comments, values, and the order of views. */

import type { SqlValues } from './declaration.ts';
import type { Message, SqlFile, ViewKeys } from './sql-file.ts';

export interface ReadSqlFile extends SqlFile {
  readonly headerLines: number;
}

/**
 * Parses a SQL file. The first comment line describes the file. The next ones are `-- name: meaning`: the columns, `primary key: a, b` and
 * `foreign key: a -> view.a` and `order: kept` of a view, or the messages of a check by language and `refuse: new`.
 */
export function readSqlFile(name: string, text: string, values: SqlValues): ReadSqlFile {
  const lines = text.split('\n');
  const headerLines = Math.max(
    0,
    lines.findIndex((line) => !line.startsWith('--')),
  );
  const [comment = '', ...rest] = lines.slice(0, headerLines).map((line) => line.replace(/^--\s?/, ''));
  const entries = rest.map((line): [string, string] => {
    const colon = line.indexOf(': ');
    return colon < 0 ? [line, ''] : [line.slice(0, colon), line.slice(colon + 2)];
  });
  const isKey = ([entry]: [string, string]): boolean =>
    ['primary key', 'foreign key', 'order', 'refuse'].includes(entry);
  const keys = readKeys(entries.filter(isKey));
  return {
    name,
    comment,
    columns: Object.fromEntries(entries.filter((entry) => !isKey(entry))),
    // Without the last semicolon, because callers put the query in parentheses.
    sql: fillIn(
      lines
        .slice(headerLines)
        .join('\n')
        .replace(/(?<![\s;])[\s;]+$/, '')
        .trimStart(),
      values,
    ),
    headerLines: headerLines + lines.slice(headerLines).findIndex((line) => line.trim() !== ''),
    ...(keys !== undefined && { keys }),
    ...(lines.slice(0, headerLines).includes('-- order: kept') && { order: 'kept' as const }),
    ...(lines.slice(0, headerLines).includes('-- refuse: new') && { refuse: 'new' as const }),
  };
}

/** Turns a file into a check, whose header contains its messages. A check without one returns a column `message`. */
export function asCheck({ columns, ...file }: ReadSqlFile): ReadSqlFile {
  const { en } = columns;
  const message: Message | undefined = en === undefined ? undefined : { ...columns, en };
  return { ...file, columns: {}, ...(message !== undefined && { message }) };
}

function readKeys(entries: readonly [string, string][]): ViewKeys | undefined {
  const primary = entries.find(([kind]) => kind === 'primary key');
  if (primary === undefined) return undefined;
  const foreignKeys = entries.flatMap(([kind, text]) => {
    const [, field, resource, other] = /^(\w+) -> (\w+)\.(\w+)$/.exec(text) ?? [];
    if (kind !== 'foreign key' || field === undefined) return [];
    return [{ fields: [field], reference: { resource: resource!, fields: [other!] } }];
  });
  const primaryKey = primary[1].split(',').map((name) => name.trim());
  return { primaryKey, ...(foreignKeys.length > 0 && { foreignKeys }) };
}

function fillIn(sql: string, values: SqlValues): string {
  const longestFirst = Object.entries(values).toSorted(([a], [b]) => b.length - a.length);
  return longestFirst.reduce((filled, [name, rows]) => {
    const text = rows.map((row) => `(${row.map(literal).join(', ')})`).join(', ');
    return filled.replaceAll(new RegExp(`\\$${name}\\b`, 'g'), () => text);
  }, sql);
}

function literal(value: number | string): string {
  return typeof value === 'number' ? String(value) : `'${value.replaceAll("'", "''")}'`;
}

/**
 * Sorts views so that each one comes after those it reads, and otherwise by name.
 *
 * @returns `circle` contains views that read each other.
 */
export function orderModels<Model extends SqlFile>(models: readonly Model[]): { ordered: Model[]; circle: Model[] } {
  const names = new Set(models.map(({ name }) => name));
  const reads = new Map(
    models.map(({ name, sql }) => [name, new Set(namesIn(sql).filter((word) => word !== name && names.has(word)))]),
  );
  const left = models.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const ordered: Model[] = [];
  for (;;) {
    const ready = left.filter(({ name }) =>
      [...reads.get(name)!].every((read) => ordered.some((model) => model.name === read)),
    );
    if (ready.length === 0) return { ordered, circle: left };
    ordered.push(...ready);
    for (const model of ready) left.splice(left.indexOf(model), 1);
  }
}

/** Returns the names in a statement, without those in literals and comments. */
export function namesIn(sql: string): string[] {
  return sql.replaceAll(/'(?:[^']|'')*'|--.*|\/\*[\s\S]*?\*\//g, ' ').match(/\w+/g) ?? [];
}
